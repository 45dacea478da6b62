// Virtual calls, member pointers, dynamic_cast, typeid, lambdas and std::function.
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>
#include "repeat.h"
struct Shape { virtual ~Shape() = default; virtual int area() const = 0; int twice() const { return 2 * area(); } };
struct Square : Shape { int s; explicit Square(int n) : s(n) {} int area() const override { return s * s; } };
struct Tagged { virtual std::string tag() const { return "tagged"; } virtual ~Tagged() = default; };
struct Both final : Square, Tagged { Both() : Square(3) {} std::string tag() const override { return "both"; } };
int main() {
  REPEAT {
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 0; i < 50; ++i) shapes.push_back(i % 2 ? std::make_unique<Square>(i) : std::unique_ptr<Shape>(new Both));
    int sum = 0, (Shape::*member)() const = &Shape::twice;
    const std::function<void(int)> add = [&sum](int n) { sum += n; };
    for (const auto& shape : shapes) {
      add((shape.get()->*member)());
      if (auto* tagged = dynamic_cast<Tagged*>(shape.get())) CHECK(tagged->tag() == "both");
      const Shape& seen = *shape;
      CHECK((typeid(seen) == typeid(Both)) == (dynamic_cast<Both*>(shape.get()) != nullptr));
    }
    CHECK(sum == 2 * (25 * 9 + 20825));
  }
  puts("virtuals ok");
}
