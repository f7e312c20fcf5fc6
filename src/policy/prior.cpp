// SPDX-License-Identifier: Apache-2.0
#include "policy/prior.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <sstream>
#include <utility>

#include "base/csv.h"
#include "base/parse.h"
#include "base/random.h"
#include "policy/search_prior_table.h"

namespace hypermile {
namespace {

constexpr double kBroadShare = 0.3;
constexpr double kInertShare = 0.1;  // of the broad law

// Jöhnk's method; both shapes are small here.
double draw_beta(Random& random, double a, double b) {
  while (true) {
    const double u = std::pow(random.uniform(), 1 / a);
    const double v = std::pow(random.uniform(), 1 / b);
    if (u + v > 0 && u + v <= 1) return u / (u + v);
  }
}

double draw_log(Random& random, double low, double high) {
  return std::exp(random.uniform(std::log(low), std::log(high)));
}

struct Fitted {
  Physics physics;
  std::string family;
};

// Rows that cannot be read are passed over: the broad law stands in for them.
std::vector<Fitted> read_table() {
  std::vector<Fitted> rows;
  std::istringstream in{std::string(kSearchPriorTable)};
  auto reader = CsvReader::open(in, "search_prior.csv");
  if (!reader) return rows;
  const auto family = reader->column("family");
  constexpr std::array kNames = {"fixed_share",  "core_share",    "overlap",      "knee",
                                 "static_share", "voltage_slope", "voltage_floor"};
  std::array<std::size_t, kNames.size()> columns{};
  for (std::size_t c = 0; c < kNames.size(); ++c) {
    const auto at = reader->column(kNames[c]);
    if (!at || !family) return rows;
    columns[c] = *at;
  }
  while (true) {
    const auto cells = reader->next();
    if (!cells || !*cells) return rows;
    Fitted row;
    row.family = (**cells)[*family];
    const std::array<double*, kNames.size()> fields = {
        &row.physics.fixed_share,  &row.physics.core_share,   &row.physics.overlap,
        &row.physics.knee,         &row.physics.static_share, &row.physics.voltage_slope,
        &row.physics.voltage_floor};
    bool good = true;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto value = parse_number((**cells)[columns[c]]);
      good = good && value.ok();
      if (value) *fields[c] = *value;
    }
    if (good) rows.push_back(std::move(row));
  }
}

// A neighbour of a fit: as far from it as fits of one GPU's jobs are from each other.
Physics jitter(const Physics& from, Random& random) {
  const auto share = [&](double value) {
    return std::clamp(value + 0.04 * random.gaussian(), 0.002, 0.995);
  };
  const auto factor = [&](double value, double low, double high) {
    return std::clamp(value * std::exp(0.12 * random.gaussian()), low, high);
  };
  Physics near;
  near.fixed_share = share(from.fixed_share);
  near.core_share = share(from.core_share);
  near.overlap = factor(from.overlap, 1, 10);
  near.knee = factor(from.knee, 1.02, 4);
  near.static_share = share(from.static_share);
  near.voltage_slope = factor(from.voltage_slope, 0.02, 8);
  near.voltage_floor = std::clamp(from.voltage_floor + 0.03 * random.gaussian(), 0.3, 1.0);
  return near;
}

}  // namespace

std::string gpu_family(std::string_view gpu_name) {
  std::string name(gpu_name);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  // The first match counts, so the exceptions stand before the rule.
  constexpr std::pair<std::string_view, std::string_view> kMarks[] = {{"blackwell", "Blackwell"},
                                                                      {"b200", "Blackwell"},
                                                                      {"b300", "Blackwell"},
                                                                      {"b100", "Blackwell"},
                                                                      {"rtx 50", "Blackwell"},
                                                                      {"rtx pro", "Blackwell"},
                                                                      {"h100", "Hopper"},
                                                                      {"h200", "Hopper"},
                                                                      {"h800", "Hopper"},
                                                                      {"gh200", "Hopper"},
                                                                      {"ada", "Ada"},
                                                                      {"l40", "Ada"},
                                                                      {"l4", "Ada"},
                                                                      {"rtx 40", "Ada"},
                                                                      {"quadro rtx", "Turing"},
                                                                      {"rtx 6000", "Ada"},
                                                                      {"titan rtx", "Turing"},
                                                                      {"rtx 20", "Turing"},
                                                                      {"rtx2", "Turing"},
                                                                      {"gtx 16", "Turing"},
                                                                      {"t4", "Turing"},
                                                                      {"a100", "Ampere"},
                                                                      {"a800", "Ampere"},
                                                                      {"a40", "Ampere"},
                                                                      {"a10", "Ampere"},
                                                                      {"a30", "Ampere"},
                                                                      {"a2", "Ampere"},
                                                                      {"a6000", "Ampere"},
                                                                      {"a5000", "Ampere"},
                                                                      {"rtx 30", "Ampere"},
                                                                      {"rtx30", "Ampere"},
                                                                      {"v100", "Volta"},
                                                                      {"titan v", "Volta"},
                                                                      {"p100", "Pascal"},
                                                                      {"p40", "Pascal"},
                                                                      {"gtx 10", "Pascal"},
                                                                      {"pascal", "Pascal"},
                                                                      {"gtx 9", "Maxwell"},
                                                                      {"maxwell", "Maxwell"},
                                                                      {"m40", "Maxwell"},
                                                                      {"k40", "Kepler"},
                                                                      {"k80", "Kepler"}};
  for (const auto& [mark, family] : kMarks) {
    if (name.find(mark) != name.npos) return std::string(family);
  }
  return "";
}

Physics draw_broad(Random& random) {
  Physics physics;
  physics.fixed_share = draw_beta(random, 0.6, 1.5);
  physics.core_share = random.uniform();
  physics.overlap = draw_log(random, 1, 8);
  physics.knee = draw_log(random, 1.1, 3);
  // Most boards save power at a lower clock; one that hardly does must be believable too.
  physics.static_share =
      random.uniform() < kInertShare ? random.uniform(0.85, 1) : draw_beta(random, 2, 3);
  physics.voltage_slope = draw_log(random, 0.2, 4);
  physics.voltage_floor = random.uniform(0.5, 0.95);
  return physics;
}

std::vector<Physics> prior_particles(std::size_t count, std::string_view without_gpu) {
  static const std::vector<Fitted> kTable = read_table();
  const std::string without = gpu_family(without_gpu);
  std::vector<Physics> fitted;
  for (const Fitted& row : kTable) {
    if (without.empty() || row.family != without) fitted.push_back(row.physics);
  }
  Random random(20240607);
  std::vector<Physics> particles;
  const double broad = fitted.empty() ? 1 : kBroadShare;
  const auto learned = static_cast<std::size_t>(static_cast<double>(count) * (1 - broad));
  // Whole rounds over the fits, the first of them as they are, so that none weighs more by chance.
  for (std::size_t i = 0; i < learned; ++i) {
    const std::size_t stride = i % fitted.size();
    particles.push_back(i < fitted.size() && learned >= fitted.size() ? fitted[stride]
                        : learned >= fitted.size() ? jitter(fitted[stride], random)
                                                   : fitted[i * fitted.size() / learned]);
  }
  while (particles.size() < count) particles.push_back(draw_broad(random));
  return particles;
}

}  // namespace hypermile
