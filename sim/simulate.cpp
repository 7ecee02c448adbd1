#include "sim/simulate.h"

#include "sim/run.h"

namespace trn {

Timing simulate(const Work& w, const Spec& s, Observer* observer, const SimOptions& options) {
  return Run(w, s, observer, options).go();
}

Timing simulate(const Program& p, const Spec& s, Observer* observer, const SimOptions& options) {
  return simulate(work_of(p, s), s, observer, options);
}

}  // namespace trn
