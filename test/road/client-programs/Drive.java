import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What the tests have the Java client do: `print`, `print-once` or `verify`, told in JSON on standard input. */
@SuppressWarnings("unchecked")
public class Drive {
    public static void main(String[] words) throws Exception {
        Object told = Platen.Json.read(new String(System.in.readAllBytes(), StandardCharsets.UTF_8));
        if (words[0].equals("print")) print((Map<String, Object>) told);
        else if (words[0].equals("print-once")) printOnce((Map<String, Object>) told);
        else verify((List<Map<String, Object>>) told);
    }

    private static void print(Map<String, Object> told) throws Exception {
        Platen client = new Platen((Map<String, Object>) told.get("account"));
        Map<String, Object> request = (Map<String, Object>) told.get("request");
        check(((Number) client.validate(request).get("labels")).intValue() == 1, "labels");
        String job = client.print(request, "java-1");
        check(client.print(request, "java-1").equals(job), "the same job");
        Map<String, Object> unknown = new HashMap<>(request);
        unknown.put("idT", "none");
        try {
            client.print(unknown, null);
            check(false, "accepted");
        } catch (Platen.PlatenException error) {
            check(error.status == 404 && error.code.equals("template-not-found") && !error.retrySafe, error.code);
            check(error.idempotencyKey != null && error.requestId != null, "key and request ID");
        }
        Map<String, Object> ended = client.waitFor(job, Duration.ofSeconds(30));
        System.out.println(job + " " + ended.get("status"));
    }

    private static void printOnce(Map<String, Object> told) throws Exception {
        Platen client = new Platen((Map<String, Object>) told.get("account"), 5, Duration.ofSeconds(1));
        System.out.println(client.print((Map<String, Object>) told.get("request"), "order-3"));
    }

    private static void verify(List<Map<String, Object>> cases) {
        for (Map<String, Object> one : cases) {
            boolean verified;
            try {
                Map<String, Object> event = Platen.verify(
                    (List<String>) one.get("secrets"),
                    ((String) one.get("body")).getBytes(StandardCharsets.UTF_8),
                    (Map<String, String>) one.get("headers"),
                    Duration.ofMinutes(5));
                check(event.get("type").equals("job.held"), "type");
                verified = true;
            } catch (Platen.PlatenException error) {
                check(error.status == 0 && error.code.equals("webhook-unverified"), error.code);
                verified = false;
            }
            check(one.get("verified").equals(verified), (String) one.get("what"));
        }
        System.out.println(cases.size() + " messages");
    }

    private static void check(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }
}
