package holdfast.interop;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Drives Redisson for the tests: one JSON request per line in, one JSON answer per line out, in the
 * order in which the requests are done.
 *
 * <pre>
 * {"id": 1, "op": "open", "client": "a", "port": 10001}
 * {"id": 2, "op": "tryLock", "client": "a", "kind": "lock", "names": ["it"], "thread": "t", "waitMs": 500}
 * {"id": 2, "ok": true, "ns": [started, ended]}
 * {"id": 3, "error": {"type": "IllegalMonitorStateException", "message": "…"}, "ns": […]}
 * </pre>
 *
 * A request runs on the thread that it names; the owner of a Redisson lock is the thread. The process
 * ends with its input.
 */
public final class Main {
  private static final Gson GSON = new GsonBuilder().serializeNulls().create();

  private final PrintStream out;
  private final Threads threads = new Threads();
  private final Operations operations = new Operations();

  private Main(PrintStream out) {
    this.out = out;
  }

  public static void main(String[] args) throws Exception {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err); // so that the output of libraries is not mixed with answers
    Main main = new Main(out);
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      main.take(JsonParser.parseString(line).getAsJsonObject());
    }
    Runtime.getRuntime().halt(0);
  }

  private void take(JsonObject fields) {
    var request = new Request(fields);
    threads.get(request.text("thread", "main")).execute(() -> answer(request));
  }

  private void answer(Request request) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("id", request.number("id", 0));
    long started = System.nanoTime();
    try {
      answer.put("ok", operations.run(request));
    } catch (Throwable thrown) {
      Map<String, Object> error = new LinkedHashMap<>();
      error.put("type", thrown.getClass().getSimpleName());
      error.put("message", String.valueOf(thrown.getMessage()));
      answer.put("error", error);
    }
    answer.put("ns", new long[] {started, System.nanoTime()});
    synchronized (out) {
      out.println(GSON.toJson(answer));
    }
  }
}
