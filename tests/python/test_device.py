import pytest
import torch


def test_import_registers_the_device_and_starts_nothing(fresh_python):
    out = fresh_python(
        "import torch; torch.accelerator.set_device_index(0); torch.manual_seed(1); torch.neuron.get_rng_state_all()\n"
        "torch.neuron.get_device_properties(0).name; torch.neuron.set_device(torch.device('neuron', 0))\n"
        "print(torch.neuron.is_available(), torch.neuron.is_initialized(), torch._C._get_accelerator())\n"
        "torch.empty(1, device='neuron'); print(torch.neuron.is_initialized())"
    )
    assert out.split() == ["True", "False", "neuron", "True"]


def test_nothing_heavy_is_imported(fresh_python):
    script = (
        "import torch, sys; torch.empty(1, device='neuron')\n"
        "print('torch._dynamo' in sys.modules, 'safetensors' in sys.modules)"
    )
    assert fresh_python(script).split() == ["False", "False"]


def test_import_of_the_package_first(fresh_python):
    assert fresh_python("import torch_neuronx, torch; print(torch.empty(1).neuron().is_neuron)").strip() == "True"


def test_defaults_leave_the_users_environment(fresh_python):
    script = (
        "import torch, os; print(os.environ['NEURON_LAUNCH_BLOCKING'], os.environ['TORCH_NEURONX_ENABLE_STACK_TRACE'])"
    )
    assert fresh_python(script, NEURON_LAUNCH_BLOCKING="1").split() == ["1", "0"]


@pytest.mark.parametrize("spec", ["neuron", "neuron:0", 0, torch.device("neuron"), torch.device("neuron", 0)])
def test_every_spelling_of_the_first_device(spec):
    assert torch.empty(2).to(spec).device == torch.device("neuron", 0)


def test_an_integer_means_this_accelerator():
    assert torch.device(1) == torch.device("neuron", 1)
    assert torch.zeros(1).to(1).device.index == 1


def test_current_device_is_per_context():
    with torch.neuron.device(1):
        assert torch.neuron.current_device() == 1
        assert torch.empty(1, device="neuron").device.index == 1
        with torch.accelerator.device_index(2):
            assert torch.neuron.current_device() == 2
        with torch.neuron.device(None), torch.neuron.device(-1):
            assert torch.neuron.current_device() == 1
    with torch.neuron.device_of(torch.empty(1, device="neuron:1")):
        assert torch.neuron.current_device() == 1
    assert torch.neuron.current_device() == 0


@pytest.mark.parametrize("set_device", [torch.neuron.set_device, torch.accelerator.set_device_index])
@pytest.mark.parametrize("spec", [1, "neuron:1", torch.device("neuron", 1)])
def test_set_device(set_device, spec):
    set_device(spec)
    assert torch.neuron.current_device() == torch.accelerator.current_device_index() == 1
    set_device(0)


@pytest.mark.parametrize("index", [100, 127])
def test_a_device_that_is_not_there(index):
    for attempt in (
        lambda: torch.empty(1, device=torch.device("neuron", index)),
        lambda: torch.neuron.set_device(index),
        lambda: torch.neuron.synchronize(index),
        lambda: torch.empty(1).to(f"neuron:{index}"),
    ):
        with pytest.raises(RuntimeError, match=f"invalid neuron device index {index}: this process sees"):
            attempt()


def test_another_kind_of_device_is_refused():
    with pytest.raises(ValueError, match="Expected a neuron device"):
        torch.neuron.set_device("cpu")


def test_properties():
    properties = torch.neuron.get_device_properties()
    assert properties.name == "trn2"
    assert properties.total_memory == torch.accelerator.get_memory_info(0)[1] > 2**30
    assert torch.neuron.get_device_name() == "neuron:0"
    assert torch.neuron.get_device_name(2) == "neuron:2"
    assert torch.neuron.is_bf16_supported()
    assert "total_memory" in repr(properties)


def test_capability_lists_what_the_engines_compute_in():
    supported = torch.accelerator.get_device_capability()["supported_dtypes"]
    assert {torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.bool} <= supported
    assert torch.complex64 not in supported


def test_dynamo_knows_the_device():
    from torch._dynamo.device_interface import get_interface_for_device

    interface = get_interface_for_device("neuron:0")
    assert interface.device_count() == torch.neuron.device_count()
    assert interface.current_device() == 0
    assert issubclass(interface.Event, torch.Event) and issubclass(interface.Stream, torch.Stream)
    assert interface.is_dtype_supported(torch.bfloat16) and not interface.is_dtype_supported(torch.complex64)
    assert interface.get_raw_stream(0) == 0
    assert interface.exchange_device(1) == 0 and interface.maybe_exchange_device(0) == 1


def test_submodules_import_by_their_public_name():
    import torch.neuron.memory
    import torch_neuronx

    assert torch.neuron.memory is torch_neuronx.neuron.memory


TORCH_NEURON = """
is_available device_count current_device set_device device get_device_name get_device_properties init is_initialized
_is_in_bad_fork is_bf16_supported Stream stream current_stream default_stream set_stream synchronize wait_stream
wait_event record_event query Event manual_seed manual_seed_all seed seed_all initial_seed get_rng_state set_rng_state
get_rng_state_all set_rng_state_all memory_allocated max_memory_allocated memory_reserved max_memory_reserved
memory_stats memory_summary reset_peak_memory_stats reset_accumulated_memory_stats empty_cache
get_amp_supported_dtype get_dynamo_metrics reset_dynamo_metrics _sleep
"""
TORCH_NEURONX = """
Stream Event StreamContext stream synchronize get_fallback_ops get_executed_ops clear_op_tracking
is_neuron_runtime_initialized get_device_properties metrics memory_allocated memory_stats
"""


def test_names_that_libraries_use():
    import torch_neuronx

    assert [name for name in TORCH_NEURON.split() if not hasattr(torch.neuron, name)] == []
    assert [name for name in TORCH_NEURONX.split() if not hasattr(torch_neuronx, name)] == []
    assert all(hasattr(torch.neuron, name) for name in torch.neuron.__all__)
