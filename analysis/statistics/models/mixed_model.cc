// With S = Z'Z, L the diagonal of relative standard deviations and K = L (I + L S L)^-1 L, the inverse of V = s_e (I + Z L^2 Z')
// is (I - Z K Z') / s_e. Everything below is a product of q x q matrices and of Z'X, X'X: powers of I - Z K Z' between X and Z.
#include "analysis/statistics/models/mixed_model.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"

namespace stab::statistics {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// The data and what never changes while the variances are fitted.
struct Data {
  Matrix x;
  Vector y;
  std::vector<std::vector<uint32_t>> column_of;  // by term, by row: the row's column of Z
  std::vector<Eigen::Index> first, count;        // of each term: its columns of Z
  Eigen::Index q = 0;
  Matrix zz, zx;  // Z'Z, Z'X
  Matrix xx;
  Vector zy, xy;
  double yy = 0;
};

// What follows from variances (s_1 .. s_k, s_e).
struct State {
  Matrix k;    // q x q
  Matrix phi;  // (X'V^-1 X)^-1
  Vector beta;
  double criterion = 0;
  double log_det = 0;
};

std::optional<State> state_at(const Data& data, const Vector& variances) {
  const auto terms = static_cast<Eigen::Index>(data.first.size());
  const double residual = variances[terms];
  Vector lambda(data.q);
  for (Eigen::Index i = 0; i < terms; ++i)
    lambda.segment(data.first[static_cast<size_t>(i)], data.count[static_cast<size_t>(i)])
        .setConstant(std::sqrt(variances[i] / residual));
  Matrix inner = lambda.asDiagonal() * data.zz * lambda.asDiagonal();
  inner.diagonal().array() += 1;
  const Eigen::LLT<Matrix> factor(inner);
  if (factor.info() != Eigen::Success) return {};
  State state;
  const Matrix inverse = factor.solve(Matrix::Identity(data.q, data.q));
  state.k = lambda.asDiagonal() * inverse * lambda.asDiagonal();
  const Matrix xvx = (data.xx - data.zx.transpose() * state.k * data.zx) / residual;
  const Vector xvy = (data.xy - data.zx.transpose() * (state.k * data.zy)) / residual;
  const Eigen::LLT<Matrix> of_x(xvx);
  if (of_x.info() != Eigen::Success) return {};
  state.phi = of_x.solve(Matrix::Identity(xvx.rows(), xvx.cols()));
  state.beta = state.phi * xvy;
  const double yvy = (data.yy - data.zy.dot(state.k * data.zy)) / residual;
  const double rest = yvy - state.beta.dot(xvy);
  const auto n = static_cast<double>(data.y.size()), p = static_cast<double>(data.x.cols());
  double log_det = n * std::log(residual);
  for (Eigen::Index i = 0; i < data.q; ++i) log_det += 2 * std::log(factor.matrixLLT()(i, i));
  double log_det_x = 0;
  for (Eigen::Index i = 0; i < xvx.rows(); ++i) log_det_x += 2 * std::log(of_x.matrixLLT()(i, i));
  state.criterion = log_det + log_det_x + rest + (n - p) * std::log(2 * M_PI);
  return std::isfinite(state.criterion) ? std::optional(std::move(state)) : std::nullopt;
}

// Z v for one term, or v where the term is the residual; and their transposes.
struct Terms {
  const Data& data;
  Eigen::Index count() const { return static_cast<Eigen::Index>(data.first.size()) + 1; }
  bool is_residual(Eigen::Index i) const { return i + 1 == count(); }
  // Z_i Z_i' v
  Vector apply(Eigen::Index i, const Vector& v) const {
    if (is_residual(i)) return v;
    const std::vector<uint32_t>& at = data.column_of[static_cast<size_t>(i)];
    Vector sums = Vector::Zero(data.q), out(v.size());
    for (Eigen::Index row = 0; row < v.size(); ++row) sums[at[static_cast<size_t>(row)]] += v[row];
    for (Eigen::Index row = 0; row < v.size(); ++row) out[row] = sums[at[static_cast<size_t>(row)]];
    return out;
  }
};

Vector z_transposed(const Data& data, const Vector& v) {
  Vector out = Vector::Zero(data.q);
  for (const auto& columns : data.column_of)
    for (Eigen::Index row = 0; row < v.size(); ++row) out[columns[static_cast<size_t>(row)]] += v[row];
  return out;
}
Vector z_times(const Data& data, const Vector& u) {
  Vector out = Vector::Zero(data.y.size());
  for (const auto& columns : data.column_of)
    for (Eigen::Index row = 0; row < out.size(); ++row) out[row] += u[columns[static_cast<size_t>(row)]];
  return out;
}

// Derivatives of the criterion and what Kenward and Roger need of them.
struct Derivatives {
  Vector score;                        // of log likelihood
  Matrix expected, observed;           // information
  std::vector<Matrix> p;               // X'V^-1 V_i V^-1 X, not negated
  std::vector<std::vector<Matrix>> q;  // X'V^-1 V_i V^-1 V_j V^-1 X
};

Derivatives derivatives_at(const Data& data, const State& state, const Vector& variances, bool whole) {
  const Terms terms{data};
  const Eigen::Index count = terms.count();
  const double residual = variances[count - 1];
  const Matrix sk = data.zz * state.k;  // S K
  // Between Z and Z, Z and X, X and X: the first three powers of I - Z K Z'.
  Matrix zz[4], zx[4], xx[4];
  zz[0] = data.zz, zx[0] = data.zx, xx[0] = data.xx;
  for (int power = 1; power < 4; ++power) {
    // Z'(I - ZKZ')^m Z = (I - S K) Z'(I - ZKZ')^(m-1) Z, and the same with X on the right.
    zz[power] = zz[power - 1] - sk * zz[power - 1];
    zx[power] = zx[power - 1] - sk * zx[power - 1];
    xx[power] = xx[power - 1] - data.zx.transpose() * state.k * zx[power - 1];
  }
  const double n = static_cast<double>(data.y.size());
  const Matrix ks = state.k * data.zz;
  const double trace_1 = (n - ks.trace()) / residual;                                                                 // of V^-1
  const double trace_2 = (n - 2 * ks.trace() + (ks.transpose().array() * ks.array()).sum()) / (residual * residual);  // of V^-2
  const auto rows_of = [&](const Matrix& all, Eigen::Index i) {
    return all.middleRows(data.first[static_cast<size_t>(i)], data.count[static_cast<size_t>(i)]);
  };
  const auto part = [&](const Matrix& all, Eigen::Index i, Eigen::Index j) {
    const auto a = static_cast<size_t>(i), b = static_cast<size_t>(j);
    return all.block(data.first[a], data.first[b], data.count[a], data.count[b]);
  };
  const auto scaled = [&](int power) { return std::pow(residual, -power); };
  Derivatives out;
  for (Eigen::Index i = 0; i < count; ++i) {
    if (terms.is_residual(i)) {
      out.p.push_back(xx[2] * scaled(2));
    } else {
      const Matrix a = rows_of(zx[1], i);
      out.p.push_back(a.transpose() * a * scaled(2));
    }
  }
  out.q.resize(static_cast<size_t>(count), std::vector<Matrix>(static_cast<size_t>(count)));
  Matrix traces(count, count);  // of V^-1 V_i V^-1 V_j
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = i; j < count; ++j) {
      Matrix between;
      if (terms.is_residual(i)) {
        between = xx[3] * scaled(3);
        traces(i, j) = trace_2;
      } else if (terms.is_residual(j)) {
        between = rows_of(zx[1], i).transpose() * rows_of(zx[2], i) * scaled(3);
        traces(i, j) = part(zz[2], i, i).trace() * scaled(2);
      } else {
        between = rows_of(zx[1], i).transpose() * part(zz[1], i, j) * rows_of(zx[1], j) * scaled(3);
        traces(i, j) = part(zz[1], i, j).squaredNorm() * scaled(2);
      }
      traces(j, i) = traces(i, j);
      out.q[static_cast<size_t>(j)][static_cast<size_t>(i)] = between.transpose();
      out.q[static_cast<size_t>(i)][static_cast<size_t>(j)] = std::move(between);
    }
  }
  // P y = V^-1 (y - X beta).
  const auto v_inverse = [&](const Vector& v) -> Vector {
    return (v - z_times(data, state.k * z_transposed(data, v))) / residual;
  };
  const Vector py = v_inverse(data.y - data.x * state.beta);
  std::vector<Vector> applied;
  for (Eigen::Index i = 0; i < count; ++i) applied.push_back(terms.apply(i, py));
  out.score = Vector(count);
  out.expected = Matrix(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const double trace = terms.is_residual(i) ? trace_1 : part(zz[1], i, i).trace() * scaled(1);
    out.score[i] = 0.5 * (py.dot(applied[static_cast<size_t>(i)]) - trace + (state.phi * out.p[static_cast<size_t>(i)]).trace());
    for (Eigen::Index j = 0; j < count; ++j) {
      const auto a = static_cast<size_t>(i), b = static_cast<size_t>(j);
      out.expected(i, j) =
          0.5 * (traces(i, j) - 2 * (state.phi * out.q[a][b]).trace() + (state.phi * out.p[a] * state.phi * out.p[b]).trace());
    }
  }
  if (!whole) return out;
  out.observed = -out.expected;
  for (Eigen::Index j = 0; j < count; ++j) {
    const Vector v = v_inverse(applied[static_cast<size_t>(j)]);
    const Vector projected = v - v_inverse(data.x * (state.phi * (data.x.transpose() * v)));
    for (Eigen::Index i = 0; i < count; ++i) out.observed(i, j) += applied[static_cast<size_t>(i)].dot(projected);
  }
  return out;
}

struct Optimum {
  Vector variances;
  State state;
};

// Fisher scoring; a variance at 0 stays there while the likelihood falls on the inner side.
Result<Optimum> maximize(const Data& data, Vector variances) {
  const Eigen::Index count = variances.size();
  std::optional<State> state = state_at(data, variances);
  if (!state) return bad_input("the model can't be fitted to these values");
  constexpr int kMostSteps = 500;
  for (int step = 0; step < kMostSteps; ++step) {
    const Derivatives at = derivatives_at(data, *state, variances, false);
    std::vector<Eigen::Index> free;
    for (Eigen::Index i = 0; i < count; ++i)
      if (variances[i] > 0 || at.score[i] > 0) free.push_back(i);
    Vector score(static_cast<Eigen::Index>(free.size()));
    Matrix information(score.size(), score.size());
    for (Eigen::Index a = 0; a < score.size(); ++a) {
      score[a] = at.score[free[static_cast<size_t>(a)]];
      for (Eigen::Index b = 0; b < score.size(); ++b)
        information(a, b) = at.expected(free[static_cast<size_t>(a)], free[static_cast<size_t>(b)]);
    }
    const Eigen::LDLT<Matrix> factor(information);
    if (factor.info() != Eigen::Success || !factor.isPositive())
      return bad_input("the random terms can't be told from each other in these data");
    const Vector direction = factor.solve(score);
    const double promised = direction.dot(score);  // twice the rise of the log likelihood, were it a parabola
    if (promised < 1e-14) return Optimum{variances, std::move(*state)};
    bool rose = false;
    double length = 1;
    for (int halving = 0; halving < 60; ++halving, length /= 2) {
      Vector next = variances;
      for (Eigen::Index a = 0; a < score.size(); ++a) {
        const Eigen::Index i = free[static_cast<size_t>(a)];
        next[i] = std::max(i + 1 == count ? 1e-3 * variances[i] : 0.0, variances[i] + length * direction[a]);
      }
      std::optional<State> there = state_at(data, next);
      if (!there || !(there->criterion < state->criterion)) continue;
      variances = std::move(next);
      state = std::move(there);
      rose = true;
      break;
    }
    // No step rises any more: the digits are used up.
    if (!rose) {
      if (promised < 1e-7) return Optimum{variances, std::move(*state)};
      return bad_input("the likelihood has no maximum that could be found; leave out a random term of few levels");
    }
  }
  return bad_input("the fit didn't settle in 500 steps; leave out a random term of few levels");
}

// A, the covariance of the variances' estimates, for 2 v^2 / g'A g degrees of freedom.
struct Spread {
  Matrix covariance;
  std::vector<size_t> free;
};

// whole: also those at 0, as Kenward and Roger's formulas have it and pbkrtest does.
Result<Spread> spread_of(const Matrix& information, const Vector& variances, bool whole) {
  Spread out;
  for (Eigen::Index i = 0; i < variances.size(); ++i)
    if (whole || variances[i] > 0) out.free.push_back(static_cast<size_t>(i));
  const auto size = static_cast<Eigen::Index>(out.free.size());
  Matrix kept(size, size);
  for (Eigen::Index a = 0; a < size; ++a)
    for (Eigen::Index b = 0; b < size; ++b)
      kept(a, b) = information(static_cast<Eigen::Index>(out.free[static_cast<size_t>(a)]),
                               static_cast<Eigen::Index>(out.free[static_cast<size_t>(b)]));
  const Eigen::LDLT<Matrix> factor(kept);
  if (factor.info() != Eigen::Success || !factor.isPositive())
    return bad_input("the variances' own error can't be had: the likelihood is flat; leave out a random term of few levels");
  out.covariance = factor.solve(Matrix::Identity(size, size));
  return out;
}

Result<Data> data_of(const std::vector<std::vector<double>>& columns, const std::vector<RandomTerm>& random,
                     std::span<const double> values) {
  constexpr Eigen::Index kMostLevels = 1000;
  Data data;
  const auto n = static_cast<Eigen::Index>(values.size());
  const auto p = static_cast<Eigen::Index>(columns.size());
  data.y = Eigen::Map<const Vector>(values.data(), n);
  data.x = Matrix(n, p);
  for (Eigen::Index c = 0; c < p; ++c) data.x.col(c) = Eigen::Map<const Vector>(columns[static_cast<size_t>(c)].data(), n);
  Eigen::ColPivHouseholderQR<Matrix> rank(data.x);
  rank.setThreshold(1e-9);
  if (rank.rank() < p) return bad_input("the fixed effects depend on each other; leave one out");
  if (n <= p + 1) return bad_input("as many fixed effects as values: nothing is left for an error");
  std::vector<std::vector<uint32_t>> partitions;
  for (const RandomTerm& term : random) {
    // Levels as they come, so that two terms of the same levels are seen to be the same.
    std::map<uint32_t, uint32_t> numbers;
    std::vector<uint32_t> partition;
    for (const uint32_t code : term.codes)
      partition.push_back(numbers.try_emplace(code, static_cast<uint32_t>(numbers.size())).first->second);
    if (numbers.size() < 2) return bad_input("'" + term.name + "' has one level: its variance can't be told from the mean");
    if (static_cast<Eigen::Index>(numbers.size()) == n)
      return bad_input("each row has a '" + term.name + "' of its own: its variance can't be told from the residual");
    for (size_t other = 0; other < partitions.size(); ++other)
      if (partitions[other] == partition)
        return bad_input("'" + term.name + "' and '" + random[other].name + "' go together in all rows; leave one out");
    partitions.push_back(partition);
    data.first.push_back(data.q);
    data.count.push_back(static_cast<Eigen::Index>(numbers.size()));
    for (uint32_t& code : partition) code += static_cast<uint32_t>(data.q);
    data.column_of.push_back(std::move(partition));
    data.q += data.count.back();
    if (data.q > kMostLevels)
      return bad_input("more than " + std::to_string(kMostLevels) + " random levels; average what repeats, or leave a term out");
  }
  data.zz = Matrix::Zero(data.q, data.q);
  data.zx = Matrix::Zero(data.q, p);
  data.zy = Vector::Zero(data.q);
  for (Eigen::Index row = 0; row < n; ++row) {
    for (const auto& of_term : data.column_of) {
      const auto a = static_cast<Eigen::Index>(of_term[static_cast<size_t>(row)]);
      data.zx.row(a) += data.x.row(row);
      data.zy[a] += data.y[row];
      for (const auto& other : data.column_of) data.zz(a, static_cast<Eigen::Index>(other[static_cast<size_t>(row)])) += 1;
    }
  }
  data.xx = data.x.transpose() * data.x;
  data.xy = data.x.transpose() * data.y;
  data.yy = data.y.squaredNorm();
  return data;
}

}  // namespace

Result<MixedFit> fit_mixed(const std::vector<std::vector<double>>& columns, const std::vector<std::string>& names,
                           const std::vector<RandomTerm>& random, std::span<const double> values, DegreesOfFreedom method) {
  STAB_CHECK_OK(check_sample(values, 4, "a mixed model"));
  STAB_CHECK_OK(check_squares(values));
  if (constant(values)) return bad_input("all values are equal: there is no variance to divide");
  if (random.empty()) return bad_input("a mixed model has a random term; without one it is an analysis of variance");
  // On values of mean 0 and variance 1: fewer digits are lost, and steps have one size.
  const Moments all = moments(values);
  const double scale = all.sd();
  std::vector<double> scaled;
  for (const double value : values) scaled.push_back((value - all.mean) / scale);
  STAB_TRY(Data data, data_of(columns, random, scaled));
  const auto count = static_cast<Eigen::Index>(random.size()) + 1;
  STAB_TRY(const Optimum best, maximize(data, Vector::Constant(count, 1.0 / static_cast<double>(count))));
  constexpr double kNoResidual = 1e-10;
  if (best.variances[count - 1] < kNoResidual * best.variances.sum())
    return bad_input("the random terms explain all of the values: there is no residual variance");
  const Derivatives at = derivatives_at(data, best.state, best.variances, true);
  const bool adjusted = method == DegreesOfFreedom::kKenwardRoger;
  STAB_TRY(const Spread spread, spread_of(adjusted ? at.expected : at.observed, best.variances, adjusted));
  const Matrix& phi = best.state.phi;
  Matrix covariance = phi;
  if (adjusted) {
    // Kenward & Roger (1997), equation 2: V is linear in the variances, so its second derivatives vanish.
    Matrix inner = Matrix::Zero(phi.rows(), phi.cols());
    for (size_t a = 0; a < spread.free.size(); ++a)
      for (size_t b = 0; b < spread.free.size(); ++b)
        inner += spread.covariance(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) *
                 (at.q[spread.free[a]][spread.free[b]] - at.p[spread.free[a]] * phi * at.p[spread.free[b]]);
    covariance += 2 * phi * inner * phi;
  }
  MixedFit fit;
  const double offset = all.mean;
  // The mean that was taken off goes back to what explains a constant.
  const Vector shift = Eigen::ColPivHouseholderQR<Matrix>(data.x).solve(Vector::Constant(data.y.size(), offset));
  if ((data.x * shift - Vector::Constant(data.y.size(), offset)).norm() >
      1e-9 * (std::fabs(offset) + 1e-300) * std::sqrt(static_cast<double>(data.y.size())))
    return bad_input("a mixed model needs an intercept among its fixed effects");
  for (Eigen::Index c = 0; c < phi.rows(); ++c) {
    FixedEffect effect;
    effect.name = names[static_cast<size_t>(c)];
    effect.estimate = best.state.beta[c] * scale + shift[c];
    effect.standard_error = std::sqrt(covariance(c, c)) * scale;
    Vector gradient(static_cast<Eigen::Index>(spread.free.size()));
    for (size_t a = 0; a < spread.free.size(); ++a)
      gradient[static_cast<Eigen::Index>(a)] = (phi.row(c) * at.p[spread.free[a]] * phi.col(c))(0, 0);
    effect.df = 2 * phi(c, c) * phi(c, c) / gradient.dot(spread.covariance * gradient);
    if (!(effect.df > 0) || !std::isfinite(effect.df) || !std::isfinite(effect.standard_error))
      return bad_input("the degrees of freedom of '" + effect.name + "' can't be had: the likelihood is flat");
    effect.t = effect.estimate / effect.standard_error;
    effect.p_value = t_two_sided(effect.t, effect.df);
    fit.fixed.push_back(std::move(effect));
  }
  for (Eigen::Index i = 0; i < count; ++i) {
    fit.variances.push_back(best.variances[i] * scale * scale);
    fit.singular |= best.variances[i] <= 0;
    fit.random_names.push_back(i + 1 == count ? "residual" : random[static_cast<size_t>(i)].name);
    fit.levels.push_back(i + 1 == count ? static_cast<uint32_t>(values.size())
                                        : static_cast<uint32_t>(data.count[static_cast<size_t>(i)]));
  }
  fit.criterion = best.state.criterion + 2 * static_cast<double>(values.size() - columns.size()) * std::log(scale);
  return fit;
}

}  // namespace stab::statistics
