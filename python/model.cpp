// Model descriptions (dict <-> Node) and compiled models.
#include "panto/model/model.hpp"

#include "panto/integrate/state_units.hpp"
#include "panto/model/compile.hpp"
#include "panto/model/copy_back.hpp"
#include "python/bindings.hpp"

namespace panto::python {
namespace {

constexpr int kMaxNesting = 64;  // as in files; also stops a container that contains itself

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw py::type_error((path.empty() ? "model" : path) + ": " + why);
}

// A Python value as part of a description: bool, numbers, str, mappings, sequences and numpy arrays of them. Members that
// are None are left out. `loc` is the place of everything inside; `path` names the value in messages.
Node to_node(py::handle object, const Loc& loc, const std::string& path, int depth = 0) {
  if (depth > kMaxNesting) {
    throw py::value_error(path + ": nested more than " + std::to_string(kMaxNesting) + " deep");
  }
  Node node;
  node.loc = node.key_loc = loc;
  if (py::hasattr(object, "tolist")) {  // numpy arrays and scalars
    return to_node(object.attr("tolist")(), loc, path, depth + 1);
  }
  if (py::isinstance<py::bool_>(object)) {
    node.value = object.cast<bool>();
  } else if (py::isinstance<py::str>(object)) {
    node.value = object.cast<std::string>();
  } else if (PyIndex_Check(object.ptr()) != 0) {
    const long long number = PyLong_AsLongLong(object.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    node.value = static_cast<std::int64_t>(number);
  } else if (PyFloat_Check(object.ptr()) != 0) {
    node.value = PyFloat_AS_DOUBLE(object.ptr());
  } else if (py::isinstance<py::dict>(object)) {
    Node::Table table;
    for (const auto& [key, member] : py::reinterpret_borrow<py::dict>(object)) {
      if (!py::isinstance<py::str>(key)) refuse(path, "the keys of a table are text");
      auto name = key.cast<std::string>();
      if (member.is_none()) continue;
      const std::string inner = path.empty() ? name : path + "." + name;
      table.emplace_back(std::move(name), to_node(member, loc, inner, depth + 1));
    }
    node.value = std::move(table);
  } else if (py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object)) {
    Node::Array array;
    for (const py::handle item : object) {
      const std::string inner = path + "[" + std::to_string(array.size()) + "]";
      array.push_back(to_node(item, loc, inner, depth + 1));
    }
    node.value = std::move(array);
  } else {
    refuse(path, "a " + std::string(py::str(py::type::handle_of(object).attr("__name__"))) +
                     " cannot be part of a model");
  }
  return node;
}

py::object to_object(const Node& node) {
  struct {
    py::object operator()(std::monostate) const { return py::none(); }
    py::object operator()(bool flag) const { return py::bool_(flag); }
    py::object operator()(std::int64_t number) const { return py::int_(number); }
    py::object operator()(double number) const { return py::float_(number); }
    py::object operator()(const std::string& text) const { return py::str(text); }
    py::object operator()(const Node::Array& array) const {
      py::list out;
      for (const Node& item : array) out.append(to_object(item));
      return out;
    }
    py::object operator()(const Node::Table& table) const {
      py::dict out;
      for (const auto& [key, member] : table) out[py::str(key)] = to_object(member);
      return out;
    }
  } visitor;
  return std::visit(visitor, node.value);
}

ModelSpec spec_from(const py::dict& description, const std::string& file, int line) {
  ModelSpec spec;
  spec.root = to_node(description, Loc{file, line, line > 0 ? 1 : 0}, "");
  return spec;
}

// Adds an item to one of the lists of a description.
void append(ModelSpec& spec, const std::string& list, const py::dict& item, const std::string& file,
            int line) {
  const Loc loc{file, line, line > 0 ? 1 : 0};
  Node node = to_node(item, loc, list);
  Node* items = spec.root.find(list);
  if (items == nullptr) {
    items = &spec.root.set(list, Node(Node::Array{}));
    items->loc = items->key_loc = loc;
  }
  auto* array = std::get_if<Node::Array>(&items->value);
  if (array == nullptr) refuse(list, "is not a list");
  array->push_back(std::move(node));
  spec.source_text.clear();  // no longer what the file says
}

// Sets members of one of the tables of a description.
void merge(ModelSpec& spec, const std::string& table, const py::dict& members,
           const std::string& file, int line) {
  const Loc loc{file, line, line > 0 ? 1 : 0};
  Node node = to_node(members, loc, table);
  Node* present = spec.root.find(table);
  if (present == nullptr) {
    present = &spec.root.set(table, Node(Node::Table{}));
    present->loc = present->key_loc = loc;
  }
  if (present->table() == nullptr) refuse(table, "is not a table");
  for (auto& [key, member] : std::get<Node::Table>(node.value)) {
    present->set(key, std::move(member));
  }
  spec.source_text.clear();
}

CompiledModel compile_spec(const ModelSpec& spec,
                           const std::vector<std::pair<std::string, std::string>>& overrides) {
  std::vector<Override> list;
  list.reserve(overrides.size());
  for (const auto& [name, value] : overrides) list.push_back({name, value});
  CompiledModel out;
  Result<Model> result = compile(spec, list);
  out.warnings = result.diagnostics();
  out.model = std::make_shared<const Model>(value_of(std::move(result)));
  out.params = nominal(*out.model);
  return out;
}

CompiledModel with_parameters(const CompiledModel& m,
                              const std::vector<std::pair<std::string, double>>& values) {
  CompiledModel out;
  out.model = m.model;
  out.params = m.params;
  out.warnings = m.warnings;
  for (const auto& [name, value] : values) {
    const int index = find_parameter(*m.model, name);
    if (index < 0) throw py::key_error(name);
    out.params.values[index] = value;
  }
  return out;
}

// name -> text, in the order of the model.
template <class Items, class TextOf>
py::dict named(const Items& items, const TextOf& text_of) {
  py::dict out;
  for (const auto& item : items) out[py::str(item.name)] = text_of(item);
  return out;
}

py::dict paired(const std::vector<std::string>& names, const std::vector<std::string>& texts) {
  py::dict out;
  for (size_t k = 0; k < names.size(); ++k) out[py::str(names[k])] = texts[k];
  return out;
}

Run state_units(const Model& model) {
  Run run;
  describe_states(model, run);
  return run;
}

// Bodies of the file: those at the end of its joints. The links inside compound joints are no bodies of the user's.
std::vector<std::string> bodies(const CompiledModel& m) {
  std::vector<std::string> out;
  for (const FileJoint& joint : m.model->file_joints) {
    out.push_back(m.model->bodies[static_cast<size_t>(joint.first + joint.count - 1)].name);
  }
  return out;
}

}  // namespace

Workspace& CompiledModel::workspace() {
  if (!workspace_) workspace_ = new_workspace();
  return *workspace_;
}

void bind_model(py::module_& module) {
  py::class_<ModelSpec>(module, "Spec", "Editable description of a mechanism.")
      .def(py::init(&spec_from), py::arg("description"), py::arg("file"), py::arg("line"))
      .def("append", &append, py::arg("list"), py::arg("item"), py::arg("file"), py::arg("line"))
      .def("merge", &merge, py::arg("table"), py::arg("members"), py::arg("file"), py::arg("line"))
      .def("copy", [](const ModelSpec& spec) { return ModelSpec(spec); })
      .def("to_dict", [](const ModelSpec& spec) { return to_object(spec.root); })
      .def("compile", &compile_spec, py::arg("overrides"))
      .def(
          "to_toml",
          [](const ModelSpec& spec, const CompiledModel& m) {
            return copy_back(spec, *m.model, m.params);
          },
          py::arg("model"))
      .def_readonly("file", &ModelSpec::file);

  const auto of_model = [](auto member) {
    return [member](const CompiledModel& m) { return (*m.model).*member; };
  };
  const auto types = [](auto member) {
    return [member](const CompiledModel& m) {
      return named((*m.model).*member, [](const auto& item) { return item.type; });
    };
  };
  py::class_<CompiledModel>(module, "Model", "Compiled mechanism with its parameters.")
      .def("with_parameters", &with_parameters, py::arg("values"))
      .def_property_readonly("warnings",
                             [](const CompiledModel& m) { return to_python(m.warnings); })
      .def_property_readonly("name", of_model(&Model::name))
      .def_property_readonly("title", of_model(&Model::title))
      .def_property_readonly("space",
                             [](const CompiledModel& m) {
                               return m.model->space == SpaceKind::kPlanar ? "planar" : "spatial";
                             })
      .def_property_readonly("coordinates",
                             [](const CompiledModel& m) {
                               return paired(m.model->coordinate_names,
                                             state_units(*m.model).coordinate_units);
                             })
      .def_property_readonly("speeds",
                             [](const CompiledModel& m) {
                               return paired(m.model->speed_names,
                                             state_units(*m.model).speed_units);
                             })
      .def_property_readonly("bodies", &bodies)
      .def_property_readonly("joints", types(&Model::file_joints))
      .def_property_readonly("constraints", types(&Model::groups))
      .def_property_readonly("forces", types(&Model::forces))
      .def_property_readonly("inputs",
                             [](const CompiledModel& m) {
                               return named(m.model->inputs,
                                            [](const Input& u) { return to_string(u.dim); });
                             })
      .def_property_readonly("outputs",
                             [](const CompiledModel& m) {
                               return named(m.model->outputs,
                                            [](const Output& y) { return unit_of(y); });
                             })
      .def_property_readonly("parameter_units",
                             [](const CompiledModel& m) {
                               return named(m.model->parameters, [](const ParameterInfo& p) {
                                 return p.has_dim ? to_string(p.dim) : std::string();
                               });
                             })
      .def_property_readonly("parameter_values",
                             [](const CompiledModel& m) { return m.params.values; });
}

}  // namespace panto::python
