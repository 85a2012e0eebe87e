package holdfast.interop;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** The request in one line of the input. */
record Request(JsonObject fields) {
  String text(String name) {
    if (!has(name)) throw new IllegalArgumentException("The request needs \"" + name + "\"");
    return fields.get(name).getAsString();
  }

  String text(String name, String otherwise) {
    return has(name) ? text(name) : otherwise;
  }

  long number(String name, long otherwise) {
    return has(name) ? fields.get(name).getAsLong() : otherwise;
  }

  double decimal(String name) {
    return fields.get(name).getAsDouble();
  }

  /** Returns the same request with another name. */
  Request named(String name) {
    JsonObject copy = fields.deepCopy();
    JsonArray names = new JsonArray();
    names.add(name);
    copy.add("names", names);
    return new Request(copy);
  }

  List<String> texts(String name) {
    List<String> texts = new ArrayList<>();
    if (has(name)) for (JsonElement each : fields.getAsJsonArray(name)) texts.add(each.getAsString());
    return texts;
  }

  boolean has(String name) {
    return fields.has(name) && !fields.get(name).isJsonNull();
  }
}
