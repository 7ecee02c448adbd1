"""Runs a function after another library's module has been imported: importing torch does not import that library."""

import importlib.abc
import sys
from collections.abc import Callable
from types import ModuleType

_waiting: dict[str, Callable[[ModuleType], None]] = {}


class _Loader(importlib.abc.Loader):
    def __init__(self, loader, action):
        self._loader, self._action = loader, action

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._action(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        action = _waiting.pop(fullname, None)
        if action is None:
            return None
        spec = _find(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, action)
        return spec


def _find(fullname, path):
    for finder in sys.meta_path:
        if isinstance(finder, _Finder):
            continue
        spec = finder.find_spec(fullname, path)
        if spec is not None:
            return spec
    return None


def call_after(name: str, action: Callable[[ModuleType], None]) -> None:
    """Calls action(module) once, right after module `name` is imported; now, if it is already there."""
    if name in sys.modules:
        action(sys.modules[name])
        return
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    _waiting[name] = action
