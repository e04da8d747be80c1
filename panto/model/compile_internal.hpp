// The passes of compile(), sharing one state. Private to the compile_*.cpp files.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/model/model.hpp"
#include "panto/model/spec.hpp"

namespace panto::compile_detail {

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
};
template <class V>
using TextMap = std::unordered_map<std::string, V, TextHash, std::equal_to<>>;

// In place of a repeat's variable, of items that a superelement stands for: no name that an expression could use.
inline constexpr std::string_view kGenerated = "~";

// One item of a list (body, joint, …) after expansion, or a table of the top level.
struct Item {
  std::string kind;  // "body"; empty: the file itself
  std::string name;
  const Node* node = nullptr;
  std::string path;     // first part of the names of its numbers: "crank", frames "crank.tip"
  std::string pointer;  // place in the description: "/body/3"
  std::string
      variable;      // of its repeat, "~" of what a superelement stands for; empty: written once
  double index = 0;  // value of that variable
  [[nodiscard]] bool generated() const { return variable == kGenerated; }
};

// A value inside an item, present or not.
struct At {
  const Item* item = nullptr;
  const Node* node = nullptr;   // nullptr: the key is absent
  const Node* owner = nullptr;  // nearest value that exists, for the place of a message
  std::string path;             // "bar.length"
  std::string pointer;
  const Override* set = nullptr;  // replaces the value

  explicit At(const Item& i) : item(&i), node(i.node), owner(i.node), pointer(i.pointer) {}
  explicit operator bool() const { return node != nullptr; }
  At operator[](std::string_view key) const;
  // Element i of a list, called `suffix` in names.
  [[nodiscard]] At element(size_t i, std::string_view suffix) const;
  [[nodiscard]] const std::string* text() const { return node ? node->text() : nullptr; }
  [[nodiscard]] size_t size() const { return node && node->array() ? node->array()->size() : 0; }
  [[nodiscard]] bool flag(bool fallback) const;
  [[nodiscard]] const Loc& loc() const { return owner->loc; }
  [[nodiscard]] std::string full_name() const;  // "crank.bar.length"

 private:
  At() = default;
};

// A named parameter of the file.
struct Named {
  std::string name;
  std::string text;
  bool has_text = false;  // otherwise a bare number
  double value = 0;       // nominal
  std::optional<Dim> dim;
  bool literal = false;     // number or quantity, not an expression
  bool structural = false;  // decides how many items there are, so it is a constant, not θ
  bool bad = false;         // reported
  Expression of_named;      // variables are indices of named parameters
  Expression of_theta;
  Loc loc;
  bool overridden = false;
};

struct Number {  // a number as read
  bool literal = false;
  double value = 0;  // nominal
  std::optional<Dim> dim;
  Expression expression;  // of θ; with time: variable 0 is t, 1 + k is θ_k
};

enum class Sign { kAny, kPositive, kNotNegative };

struct Dof {
  int dof = -1;
  bool angular = false;
  bool rate_only = false;  // angular velocity of a spherical joint
  bool speed = false;      // found by the name of its speed
};

inline constexpr int kNoFrame = -2;
inline constexpr int kHeld = -2;  // a coordinate of an ANCF node that a joint holds

class Compiler {
 public:
  Compiler(const ModelSpec& spec, std::span<const Override> overrides);
  Result<Model> run();

 private:
  // --- compile.cpp: messages, items, names
  void error(int id, const At& at, const std::string& message);
  void warning(int id, const At& at, const std::string& message);
  [[nodiscard]] static std::string label(const At& at);
  bool name_ok(const Item& item);  // characters and uniqueness within the kind; reports
  void top_level();
  void warn_about_massless();
  void check_rotation();

  // --- compile_repeat.cpp
  void expand_items();
  void expand_list(const std::string& kind, const Node& list);
  void expand_repeat(const std::string& kind, const Node& node, const std::string& pointer);
  std::optional<long> whole(std::string_view text, const std::string& variable, double index,
                            const Node& at, const std::string& what);
  bool substitute(Node& node, const std::string& variable, double index, const std::string& what);
  bool substitute_text(std::string& text, const Node& at, const std::string& variable, double index,
                       const std::string& what);

  // --- compile_superelements.cpp
  void superelements();
  void superelement(const Item& item);
  void add_generated(const char* kind, const At& from, Node node);

  // --- compile_parameters.cpp
  void read_parameters();
  void order_parameters();
  void report_cycle(size_t start, const std::vector<std::vector<int>>& uses);
  void assign_theta();
  void report_expression(const Loc& loc, bool exact_column, const std::string& what,
                         const ExpressionError& e);

  // --- compile_numbers.cpp
  At overridden(const At& at);
  std::optional<Number> read(const At& at, std::optional<Dim> dim, bool with_time = false);
  std::optional<Number> read_text(const At& at, const std::string& text, bool with_time);
  std::optional<Expression> compose(const Expression& local, const Item* item, bool with_time);
  Slot number(const At& at, std::optional<Dim> dim, Sign sign = Sign::kAny);
  Slot drawn_number(const At& at, Dim dim, Sign sign = Sign::kAny);  // literals stay out of θ
  std::optional<double> constant(const At& at, std::optional<Dim> dim);
  std::vector<double> constants(const At& at, std::optional<Dim> dim);
  template <size_t N>
  std::array<Slot, N> numbers(const At& at, Dim dim, const std::array<const char*, N>& suffixes) {
    std::array<Slot, N> slots;
    slots.fill(-1);
    for (size_t i = 0; i < std::min(at.size(), N); ++i) {
      slots[i] = number(at.element(i, suffixes[i]), dim);
    }
    return slots;
  }
  Slot add_slot(Expression e);
  Slot add_slot(std::vector<Expression::Instruction> code);
  [[nodiscard]] double value(Slot s) const {
    return s < 0 ? 0 : slot_values_[static_cast<size_t>(s)];
  }
  [[nodiscard]] double evaluate(const Expression& e) const;

  // --- compile_tree.cpp
  void tree();
  [[nodiscard]] int body_of(const At& place);  // file index, kGround, or kNoFrame (not reported)
  std::vector<size_t> order_joints(const std::vector<int>& parents,
                                   const std::vector<int>& children);
  void report_tree_cycles(const std::vector<int>& parents, const std::vector<int>& children,
                          const std::vector<int>& joint_of_body, const std::vector<bool>& placed);
  void add_joint(const Item& item, int parent_file_body, int child_file_body);
  void name_coordinates(const Item& item, bool exists, int first_dof, int first_q);
  std::optional<std::array<double, 3>> axis(const At& at, std::array<double, 3> fallback);
  void joint_frames();

  // --- compile_bodies.cpp
  void bodies();
  void body(const Item& item, Body& out);
  void explicit_solid(const At& at, Body& out);
  void bar(const At& at, Body& out, int body_index, const std::string& name);
  void mass_or_density(const At& at, Solid& out);
  void check_inertia(const At& at, const Solid& s);
  void frames();
  void add_frame(Frame f, const At& at);
  void fill_frame(const At& at, Frame& f);

  // --- compile_beams.cpp
  void beam(const At& at, Body& out, int body_index, const std::string& name);
  bool beam_material(const At& at, int body_index, const std::string& name, Beam& b,
                     std::vector<Slot>& x);
  int beam_frame(const At& at, int body_index, const std::string& name, const std::string& suffix,
                 Slot x);
  bool beam_section(const At& at, Beam& out);
  std::vector<Slot> beam_nodes(const At& at, Slot length);
  struct NodeMass {
    Slot *mass, *inertia;
  };
  void lumped(const At& at, const std::vector<NodeMass>& nodes);
  void elastic_layout();
  struct Connection;
  void connect(const Connection& c);
  void place_links();
  void name_displacements();
  [[nodiscard]] int beam_of(int body) const;
  // Node of the beam at a place on it, -1 if there is none; on_axis: the place must be the node itself.
  [[nodiscard]] int node_at(int frame, bool on_axis) const;
  int following(int frame, const At& at);
  std::optional<Channel> joint_channel(const At& at, bool needs_value);
  std::optional<Channel> displacement_channel(const At& at);
  std::optional<Channel> beam_channel(const At& at, ChannelKind kind);

  // --- compile_reduction.cpp
  void read_reduction();  // which displacements are masters and which modes are kept
  void name_amplitudes();
  void reduction_basis();
  [[nodiscard]] std::vector<double> initial_link_angles() const;
  [[nodiscard]] std::optional<Channel> turning_channel(const At& at, int dof);

  // --- compile_ancf.cpp
  void ancf(const At& at, Body& out, int body_index, const std::string& name);
  [[nodiscard]] bool is_ancf(int file_body) const;
  [[nodiscard]] int ancf_of(int body) const;  // beam of large deformation, -1: none
  [[nodiscard]] int ancf_node_at(int frame, bool on_axis) const;
  void finish_axis_frames();
  void ancf_joint(const Item& item, Joint& joint, int body);
  void perpendicular_sections();
  void ancf_layout();
  void initial_rate(int beam, const At& at);
  [[nodiscard]] std::optional<Channel> ancf_joint_channel(const std::string& name) const;
  [[nodiscard]] std::vector<Expression::Instruction> combined(Expression::Op op, Slot a,
                                                              Slot b) const;

  // --- compile_shapes.cpp
  void shapes(const Item& item, Body& out);
  void shape(const At& at, Body& out);

  // --- compile_places.cpp
  int place(const At& at);        // frame index, -1: ground's own frame, kNoFrame: reported
  int rigid_place(const At& at);  // the same, on the rigid link of a beam
  int place_or_ground(const At& at) { return at ? place(at) : -1; }
  int own_frame(int body);
  [[nodiscard]] int frame_body(int frame) const;
  bool two_places(const At& at, int& a, int& b);
  std::optional<Dof> coordinate(const At& at);
  std::optional<Dof> coordinate(const At& at, const std::string& name);
  [[nodiscard]] std::vector<std::string> coordinate_candidates() const;
  std::optional<Channel> coordinate_channel(const At& at, bool needs_value);
  std::optional<Channel> point_channel(const At& at);
  std::optional<Channel> distance_channel(const At& between);
  std::optional<Channel> angle_channel(const At& a, const At& b);
  std::optional<Channel> direction_channel(const At& at);  // `of`, `from`
  std::optional<Channel> sum_channel(const At& terms);
  int axis_index(const At& at, int fallback);
  [[nodiscard]] Dim channel_dim(const Channel& c) const;
  [[nodiscard]] Dim force_dim(const Channel& c) const;

  // --- compile_loops.cpp
  void loops();
  void loop(const Item& item, ConstraintGroup& group);
  void place_rows(const At& at, const std::string& type, int group);
  void gear(const At& at, int group);
  void drivers();
  void add_row(ConstraintRow row, int group);
  void sort_rows();

  // --- compile_forces.cpp
  void forces();
  void spring(const At& at, ForceElement element);
  void applied(const At& at, const ForceElement& element);
  void friction(const At& at, ForceElement element);
  void add_force(const Item& item, ForceElement element);
  void actuators();
  void velocity_drive(const At& at, Actuator& actuator);

  // --- compile_signals.cpp
  int signal(const At& at, std::optional<Dim> dim);
  int law_table(const At& at, Dim x, Dim f);
  std::optional<Signal> sampled(const At& at, std::vector<double> x, std::vector<double> y,
                                bool linear);
  std::optional<Signal> from_csv(const At& at, bool linear);

  // --- compile_outputs.cpp
  void outputs();
  bool channel_output(const At& at, const std::string& type, Output& out);
  bool force_output(const At& at, Output& out);
  void sensor(const Item& item);
  void default_outputs();
  void add_output(const Item& item, Output out);

  // --- compile_initial.cpp
  void initial();
  void conditions(const At& at, bool guess);
  void condition(const At& at, const std::string& name, bool guess);
  void joint_condition(const At& at, const std::string& joint, bool guess);
  void orientation(const At& at, const std::string& joint, bool guess);
  void points(const At& at, Order order, bool guess);
  void preferred();
  void run_defaults();

  const ModelSpec& spec_;
  std::span<const Override> overrides_;
  std::vector<bool> override_used_;
  TextMap<size_t> override_index_;

  Model model_;
  Diagnostics diagnostics_;
  std::set<std::tuple<int, int, int>>
      repeated_findings_;  // id, line, column: once per written item
  bool planar_ = true;

  std::deque<Node> expanded_;
  size_t expanded_size_ = 0;
  bool expansion_stopped_ = false;
  Item root_;  // the file itself
  std::map<std::string, std::deque<Item>> items_;

  std::vector<Named> named_;
  TextMap<int> named_index_;
  std::vector<std::string> named_names_;
  std::vector<int> named_order_;
  std::vector<double> theta_;  // nominal values
  std::vector<double> slot_values_;
  std::unordered_set<std::string> theta_names_;

  TextMap<int> body_index_;                                 // name -> file body
  std::vector<int> final_body_;                             // file body -> model body
  std::vector<int> own_frames_;                             // model body -> frame index or -1
  TextMap<int> frame_index_;                                // "crank.end"
  std::vector<std::pair<const Item*, int>> placed_joints_;  // item, file joint
  TextMap<Dof> dof_index_;    // coordinate and speed names; dof -1: of a joint with errors
  TextMap<int> joint_index_;  // name -> file joint; -1: with errors
  TextMap<std::vector<std::string>> joint_coordinates_;
  std::vector<bool> angular_;  // per speed index

  // Displacements of beams: 3 node + axis. Those of one group are one coordinate.
  std::vector<int> elastic_group_;
  std::vector<NodeHold> elastic_hold_;
  std::map<int, std::array<int, 2>>
      joint_nodes_;                    // speed of a revolute joint -> nodes of child and parent, -1
  std::vector<int> followers_;         // frame -> its twin that follows a node
  std::map<int, const Node*> zeroed_;  // beam -> its list
  bool reduced_ = false;
  std::set<int> masters_;   // groups
  bool following_ = false;  // places on beams follow their nodes

  struct AncfJoint {
    int section = -1, parent = -1;  // frames
    int node = -1;
  };
  TextMap<AncfJoint> ancf_joints_;
  std::map<int, At> ancf_at_;                          // beam -> its table
  std::vector<std::pair<int, int>> ancf_axis_frames_;  // frame, node

  struct Carrier {  // what force_of can name
    std::string kind;
    std::vector<int> elements;  // force elements
    int group = -1;
    int input = -1;
  };
  TextMap<std::vector<Carrier>> carriers_;
  TextMap<int> output_index_;
};

}  // namespace panto::compile_detail
