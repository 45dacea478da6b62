// Finding recursion: strongly connected components of the direct call graph (Tarjan, "Depth-first search and
// linear graph algorithms", 1972), without recursion of our own, as programs have chains of any length.
//
// Edges are calls to wherever they enter, and jumps to another function's entry (tail calls). A jump into the
// middle of a function is how split-off cold parts return to their parent: no new activation, no edge.
#include "instrumenter/postlink/call_graph.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace stab::postlink {
namespace {

constexpr uint32_t kUnvisited = UINT32_MAX;

class Components {
 public:
  Components(std::vector<uint32_t> first_edge, std::vector<uint32_t> edges)
      : first_edge_(std::move(first_edge)), edges_(std::move(edges)), count_(first_edge_.size() - 1),
        order_(count_, kUnvisited), low_(count_, 0), on_stack_(count_, false), cyclic_(count_, false) {}

  std::vector<bool> cyclic() && {
    for (uint32_t node = 0; node < count_; ++node)
      if (order_[node] == kUnvisited) visit(node);
    return std::move(cyclic_);
  }

 private:
  struct Step {
    uint32_t node;
    uint32_t next_edge;
  };

  std::span<const uint32_t> edges_of(uint32_t node) const {
    return std::span(edges_).subspan(first_edge_[node], first_edge_[node + 1] - first_edge_[node]);
  }

  void enter(uint32_t node) {
    order_[node] = low_[node] = next_order_++;
    stack_.push_back(node);
    on_stack_[node] = true;
    path_.push_back({node, 0});
  }

  void visit(uint32_t root) {
    enter(root);
    while (!path_.empty()) {
      const uint32_t node = path_.back().node;
      const auto edges = edges_of(node);
      if (path_.back().next_edge < edges.size()) {
        const uint32_t to = edges[path_.back().next_edge++];
        if (to == node) cyclic_[node] = true;
        if (order_[to] == kUnvisited) {
          enter(to);
        } else if (on_stack_[to]) {
          low_[node] = std::min(low_[node], order_[to]);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) low_[path_.back().node] = std::min(low_[path_.back().node], low_[node]);
      if (low_[node] == order_[node]) close_component(node);
    }
  }

  void close_component(uint32_t root) {
    const bool several = stack_.back() != root;
    for (;;) {
      const uint32_t member = stack_.back();
      stack_.pop_back();
      on_stack_[member] = false;
      if (several) cyclic_[member] = true;
      if (member == root) return;
    }
  }

  std::vector<uint32_t> first_edge_, edges_;
  size_t count_;
  std::vector<uint32_t> order_, low_;
  std::vector<bool> on_stack_, cyclic_;
  std::vector<uint32_t> stack_;
  std::vector<Step> path_;
  uint32_t next_order_ = 0;
};

}  // namespace

std::vector<bool> recursive_functions(const Callees& callees, const Disassembly& disassembly,
                                      const FunctionTable& functions) {
  std::vector<uint32_t> first_edge, edges;
  first_edge.reserve(functions.size() + 1);
  for (uint32_t caller = 0; caller < functions.size(); ++caller) {
    first_edge.push_back(static_cast<uint32_t>(edges.size()));
    for (const Field& field : disassembly.fields_of(caller)) {
      if (field.kind != FieldKind::kCall && field.kind != FieldKind::kJump &&
          field.kind != FieldKind::kShortJump)
        continue;
      auto callee = callees.function_entered(functions, field.target);
      if (!callee && field.kind == FieldKind::kCall) callee = functions.holding(field.target);
      if (callee) edges.push_back(*callee);
    }
  }
  first_edge.push_back(static_cast<uint32_t>(edges.size()));
  return Components(std::move(first_edge), std::move(edges)).cyclic();
}

}  // namespace stab::postlink
