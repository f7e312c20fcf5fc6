// SPDX-License-Identifier: Apache-2.0
//
// Makes models/search_prior.csv: fits the physics model to every curve of the given sweeps and
// writes a table of ROWS particles. Each GPU family has the same share; a family with few curves
// gets jittered copies. The table holds fitted parameters only, no measurements.
//
//   fit_search_prior ROWS SWEEP.csv[@15MHz]... > models/search_prior.csv
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/parse.h"
#include "policy/prior.h"
#include "trial/judge/fit_physics.h"

namespace hypermile {
namespace {

constexpr double kWorstTimeError = 0.02;  // a worse fit means a broken curve

using Families = std::map<std::string, std::vector<Physics>>;

Result<void> fit_sweep(const std::string& text, Families& families) {
  ASSIGN_OR_RETURN(const SweepReference reference, parse_sweep_reference(text));
  ASSIGN_OR_RETURN(const SweepFile file, read_sweep(reference.path));
  const CurveSet set = make_curves(file, {.knobs = {Knob::kSmClock}, .step = {}});
  std::size_t used = 0;
  double time_error = 0;
  double power_error = 0;
  for (const Curve& curve : set.curves) {
    const auto fit = fit_physics(curve);
    if (!fit || fit->time_error > kWorstTimeError) continue;
    families[gpu_family(curve.key.gpu)].push_back(fit->physics);
    ++used;
    time_error += fit->time_error;
    power_error += fit->power_error;
  }
  const auto n = static_cast<double>(std::max<std::size_t>(used, 1));
  fmt::print(stderr, "{}: {} of {} curves, mean rms error {:.2f} % time, {:.2f} % power\n", text,
             used, set.curves.size(), 100 * time_error / n, 100 * power_error / n);
  return {};
}

void write(const Families& families, std::size_t rows) {
  fmt::print(
      "fixed_share,core_share,overlap,knee,static_share,voltage_slope,voltage_floor,family\n");
  std::size_t left = rows;
  std::size_t families_left = families.size();
  for (const auto& [family, fits] : families) {
    const std::size_t share = left / families_left--;
    left -= share;
    for (std::size_t i = 0; i < share; ++i) {
      const Physics& p = fits[i * fits.size() / share];
      fmt::print("{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{}\n", p.fixed_share,
                 p.core_share, p.overlap, p.knee, p.static_share, p.voltage_slope, p.voltage_floor,
                 family);
    }
  }
}

}  // namespace
}  // namespace hypermile

int main(int argc, char** argv) {
  using namespace hypermile;
  const auto rows = argc > 2 ? parse_integer(argv[1]) : Result<long long>(0LL);
  if (!rows || *rows < 1) {
    fmt::print(stderr, "usage: fit_search_prior ROWS SWEEP.csv[@15MHz]... > search_prior.csv\n");
    return 2;
  }
  Families families;
  for (int i = 2; i < argc; ++i) {
    if (const auto done = fit_sweep(argv[i], families); !done) {
      fmt::print(stderr, "{}\n", done.error().line());
      return 1;
    }
  }
  write(families, static_cast<std::size_t>(*rows));
  return 0;
}
