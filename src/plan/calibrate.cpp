// SPDX-License-Identifier: Apache-2.0
#include "plan/calibrate.h"

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "plan/cost_table.h"

namespace hypermile {
namespace {

constexpr auto kConstants = static_cast<Eigen::Index>(kEfficiencyConstants);
constexpr double kScatter = 0.25;  // standard deviation of the log of a measured time
constexpr double kPrior = 0.3;     // standard deviation of the log of a constant
constexpr int kRounds = 60;
constexpr double kProbe = 1e-4;
constexpr double kSettled = 1e-5;

using Vector = Eigen::VectorXd;

struct Observation {
  std::vector<Kernel> kernels;
  double measured_s = 0;
};

class Fit {
 public:
  Fit(const GpuSheet& sheet, std::span<const LayerTime> times, const Efficiency& prior)
      : sheet_(sheet), prior_(prior) {
    for (const LayerTime& time : times) {
      add(time.forward_kernels(), time.forward_s);
      add(time.backward_kernels(), time.backward_s);
    }
  }

  // Iteratively reweighted least squares. Each move is halved until the loss falls.
  Efficiency solve() const {
    Vector at = Vector::Zero(kConstants);
    double loss = loss_at(at);
    for (int round = 0; round < kRounds; ++round) {
      const Vector direction = gauss_newton(at);
      double length = 1;
      Vector next = at + direction;
      double next_loss = loss_at(next);
      while (next_loss > loss && length > 1e-3) {
        length /= 2;
        next = at + length * direction;
        next_loss = loss_at(next);
      }
      if (next_loss >= loss) break;
      const double gain = loss - next_loss;
      at = next;
      loss = next_loss;
      if (gain < kSettled) break;
    }
    return constants(at);
  }

 private:
  void add(std::vector<Kernel> kernels, double measured_s) {
    if (!kernels.empty()) observations_.push_back({std::move(kernels), measured_s});
  }

  Efficiency constants(const Vector& logs) const {
    Efficiency efficiency = prior_;
    for (Eigen::Index i = 0; i < kConstants; ++i) {
      efficiency.values[static_cast<std::size_t>(i)] *= std::exp(logs[i]);
    }
    return efficiency;
  }

  Vector residuals(const Vector& logs) const {
    const Efficiency efficiency = constants(logs);
    Vector r(static_cast<Eigen::Index>(observations_.size()));
    for (std::size_t i = 0; i < observations_.size(); ++i) {
      const GpuConstants& gpu = sheet_.constants;
      const double predicted = stage_time(gpu, observations_[i].kernels, efficiency,
                                          gpu.clocks.sm_boost, gpu.clocks.memory_default);
      r[static_cast<Eigen::Index>(i)] =
          std::log(predicted / observations_[i].measured_s) / kScatter;
    }
    return r;
  }

  // A robust loss: quadratic near zero and linear far away.
  double loss_at(const Vector& logs) const {
    const Vector r = residuals(logs);
    return ((1 + r.array().square()).sqrt() - 1).sum() + 0.5 * (logs / kPrior).squaredNorm();
  }

  Vector gauss_newton(const Vector& at) const {
    const Vector r = residuals(at);
    Eigen::MatrixXd jacobian(r.size(), kConstants);
    for (Eigen::Index i = 0; i < kConstants; ++i) {
      Vector moved = at;
      moved[i] += kProbe;
      jacobian.col(i) = (residuals(moved) - r) / kProbe;
    }
    const Vector weights = (1 + r.array().square()).sqrt().inverse();
    const double pull = 1 / (kPrior * kPrior);
    Eigen::MatrixXd normal = jacobian.transpose() * weights.asDiagonal() * jacobian;
    normal.diagonal().array() += pull;
    const Vector gradient = jacobian.transpose() * weights.cwiseProduct(r) + pull * at;
    return -normal.ldlt().solve(gradient);
  }

  const GpuSheet& sheet_;
  Efficiency prior_;
  std::vector<Observation> observations_;
};

}  // namespace

Efficiency calibrate(const GpuSheet& sheet, std::span<const LayerTime> times,
                     const Efficiency& prior) {
  return Fit(sheet, times, prior).solve();
}

CalibrationScore score_calibration(const GpuSheet& sheet, std::span<const LayerTime> times,
                                   const Efficiency& efficiency) {
  const GpuConstants& gpu = sheet.constants;
  const auto predict = [&](const std::vector<Kernel>& kernels) {
    return stage_time(gpu, kernels, efficiency, gpu.clocks.sm_boost, gpu.clocks.memory_default);
  };
  CalibrationScore score;
  double predicted_forward = 0, predicted_backward = 0, forward = 0, backward = 0, errors = 0;
  for (const LayerTime& time : times) {
    const double f = predict(time.forward_kernels());
    const double b = predict(time.backward_kernels());
    errors += std::abs(f / time.forward_s - 1) + std::abs(b / time.backward_s - 1);
    const double often = static_cast<double>(time.count);
    predicted_forward += often * f;
    predicted_backward += often * b;
    forward += often * time.forward_s;
    backward += often * time.backward_s;
  }
  score.shapes = times.size();
  if (times.empty()) return score;
  score.mean_error = errors / (2 * static_cast<double>(times.size()));
  score.total_error = (predicted_forward + predicted_backward) / (forward + backward) - 1;
  score.forward_error = predicted_forward / forward - 1;
  score.backward_error = predicted_backward / backward - 1;
  return score;
}

}  // namespace hypermile
