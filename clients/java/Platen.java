import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A client of Platen's HTTP interface (docs/http.md): one file, the standard library of Java 17 or later.
 *
 * <pre>
 * Platen platen = new Platen(account);   // what `platen integration create --json` prints
 * String id = platen.print(Map.of("idT", "…", "printer", "dock-3", "data", List.of(Map.of("ean", "4006381333931"))), "order-4711");
 * Object status = platen.waitFor(id, Duration.ofMinutes(1)).get("status");
 * </pre>
 *
 * JSON comes and goes as Map, List, String, BigDecimal (any Number when sent), Boolean and null. Threads may share a client. An
 * interrupt ends a request, a retry or a wait with InterruptedException.
 */
public final class Platen {
    private static final Set<String> OVER = Set.of("printed", "failed", "canceled", "held");
    /** ms: the first wait before a retry and the longest; the longest that a service may ask for; a token's margin. */
    private static final long BACKOFF = 250, MOST_BACKOFF = 10_000, MOST_WAIT = 60_000, MARGIN = 15_000;

    private final Map<String, ?> account;
    private final int retries;
    private final Duration timeout;
    /** A secret goes to the address that was named, and nowhere else: redirects are not followed. */
    private final HttpClient http = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NEVER).build();
    private String token;
    private long until;

    public Platen(Map<String, ?> account) {
        this(account, 5, Duration.ofSeconds(30));
    }

    /** @param retries attempts after the first; @param timeout for each request */
    public Platen(Map<String, ?> account, int retries, Duration timeout) {
        this.account = account;
        this.retries = retries;
        this.timeout = timeout;
    }

    /** The service has refused, or (status 0) no answer came, so that a print may or may not have been accepted. */
    public static final class PlatenException extends Exception {
        private static final long serialVersionUID = 1;
        public final int status;
        public final String code;
        public final boolean retrySafe;
        /** For support; null where the service did not say it. */
        public final String requestId;
        /** Of a print: with this key the same request may be sent again. Otherwise null. */
        public final String idempotencyKey;
        private final long retryAfter;

        private PlatenException(String message, int status, String code, boolean retrySafe, String requestId, long retryAfter, String key) {
            super(message);
            this.status = status;
            this.code = code;
            this.retrySafe = retrySafe;
            this.requestId = requestId;
            this.retryAfter = retryAfter;
            this.idempotencyKey = key;
        }

        private PlatenException of(String key) {
            PlatenException same = new PlatenException(getMessage(), status, code, retrySafe, requestId, retryAfter, key);
            same.initCause(this);
            return same;
        }
    }

    /** The job's ID, once the job is accepted. One key for each business event, the same for its retries; null: a new one. */
    public String print(Map<String, ?> request, String idempotencyKey) throws PlatenException, InterruptedException {
        String key = idempotencyKey == null ? UUID.randomUUID().toString() : idempotencyKey;
        try {
            Object ids = ask("POST", "", request, Map.of("Idempotency-Key", key));
            return (String) (ids instanceof List<?> list ? list.get(0) : ids);
        } catch (PlatenException error) {
            throw error.of(key);
        }
    }

    /** The same checks; nothing is printed. */
    public Map<String, Object> validate(Map<String, ?> request) throws PlatenException, InterruptedException {
        return object(ask("POST", "/validate", request, Map.of()));
    }

    public Map<String, Object> job(String id) throws PlatenException, InterruptedException {
        return object(ask("GET", "/" + encoded(id).replace("+", "%20"), null, Map.of()));
    }

    /**
     * The job, once it has ended or a person has to look.
     * @throws TimeoutException if that is not so within `limit`
     */
    public Map<String, Object> waitFor(String id, Duration limit) throws PlatenException, InterruptedException, TimeoutException {
        long deadline = System.nanoTime() + limit.toNanos();
        for (;;) {
            Map<String, Object> job = job(id);
            if (OVER.contains(job.get("status"))) return job;
            if (System.nanoTime() + 500_000_000L > deadline) {
                throw new TimeoutException("job " + id + " is " + job.get("status") + " after " + limit);
            }
            Thread.sleep(500);
        }
    }

    /**
     * The event, if the message is of the service that has one of the secrets, and of the last `tolerance` (docs/webhooks.md). Take a
     * `webhook-id` once: a message may arrive twice.
     * @param secrets what `platen webhook create` printed; two while it is changed
     * @param body the bytes as they came
     * @param headers by name; upper and lower case are the same
     * @throws PlatenException `webhook-unverified`
     */
    public static Map<String, Object> verify(List<String> secrets, byte[] body, Map<String, String> headers, Duration tolerance) throws PlatenException {
        Map<String, String> given = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        given.putAll(headers);
        String id = given.getOrDefault("webhook-id", "");
        String at = given.getOrDefault("webhook-timestamp", "");
        String signatures = given.getOrDefault("webhook-signature", "");
        if (id.isEmpty() || at.isEmpty() || signatures.isEmpty()) {
            throw unverified("it has no webhook-id, webhook-timestamp or webhook-signature");
        }
        if (!at.matches("[0-9]{1,15}")) throw unverified("its webhook-timestamp is no time");
        if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(at)) > tolerance.toSeconds()) {
            throw unverified("its webhook-timestamp is too far from the time of this machine");
        }
        boolean fits = false;
        for (String secret : secrets) {
            byte[] right = bytes("v1," + Base64.getEncoder().encodeToString(signature(secret, id + "." + at + ".", body)));
            for (String signature : signatures.split(" ")) fits = MessageDigest.isEqual(bytes(signature), right) || fits;
        }
        if (!fits) throw unverified("no signature of it fits the secret");
        try {
            return object(Json.read(text(body)));
        } catch (IOException error) {
            throw unverified("it is no JSON");
        }
    }

    private static byte[] signature(String secret, String head, byte[] body) {
        byte[] key = Base64.getDecoder().decode(secret.startsWith("whsec_") ? secret.substring(6) : secret);
        if (key.length == 0) throw new IllegalArgumentException("the secret of a webhook is empty");
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            mac.update(bytes(head));
            return mac.doFinal(body);
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException(error);
        }
    }

    private static PlatenException unverified(String why) {
        return new PlatenException("the message is not verified: " + why, 0, "webhook-unverified", false, null, 0, null);
    }

    private Object ask(String method, String path, Object body, Map<String, String> headers) throws PlatenException, InterruptedException {
        boolean mayRenew = true;
        for (int attempt = 0; ; ) {
            try {
                HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(member("printEndpoint") + path))
                    .header("Authorization", "Bearer " + accessToken())
                    .header("x-tenant", member("tenant"));
                headers.forEach(request::header);
                if (body == null) return send(request.method(method, HttpRequest.BodyPublishers.noBody()));
                request.header("Content-Type", "application/json");
                return send(request.method(method, HttpRequest.BodyPublishers.ofString(Json.write(body))));
            } catch (PlatenException error) {
                if (error.status == 401 && mayRenew && !error.code.equals("invalid_client")) {
                    mayRenew = false;
                    forgetToken();
                    continue;
                }
                if (!error.retrySafe || attempt >= retries) throw error;
                double backoff = Math.min(MOST_BACKOFF, BACKOFF << attempt) * ThreadLocalRandom.current().nextDouble(0.5, 1);
                Thread.sleep(Math.max(error.retryAfter, (long) backoff));
                attempt += 1;
            }
        }
    }

    private synchronized void forgetToken() {
        token = null;
    }

    private synchronized String accessToken() throws PlatenException, InterruptedException {
        if (token == null || System.nanoTime() - until >= 0) {
            StringBuilder form = new StringBuilder("grant_type=client_credentials");
            for (String[] pair : new String[][] {{"client_id", "apiKey"}, {"client_secret", "apiSecret"}, {"audience", "audience"}, {"scope", "scope"}}) {
                form.append('&').append(pair[0]).append('=').append(encoded(member(pair[1])));
            }
            Map<String, Object> told = object(send(HttpRequest.newBuilder(URI.create(member("tokenUrl")))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form.toString()))));
            token = (String) told.get("access_token");
            until = System.nanoTime() + (((Number) told.get("expires_in")).longValue() * 1_000 - MARGIN) * 1_000_000;
        }
        return token;
    }

    private Object send(HttpRequest.Builder request) throws PlatenException, InterruptedException {
        // The request's own timeout ends with the head of the answer: its body could stop half-way for ever.
        CompletableFuture<HttpResponse<byte[]>> coming = http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        try {
            HttpResponse<byte[]> answer = coming.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            if (answer.statusCode() / 100 == 2) return Json.read(text(answer.body()));
            throw refusal(answer);
        } catch (IOException | ExecutionException | TimeoutException error) {
            // Whether the service has the request is not known; the key makes it harmless to ask again.
            PlatenException unreachable = new PlatenException("the service cannot be reached", 0, "unreachable", true, null, 0, null);
            unreachable.initCause(error);
            throw unreachable;
        } finally {
            coming.cancel(true);
        }
    }

    private static PlatenException refusal(HttpResponse<byte[]> answer) {
        int status = answer.statusCode();
        Map<String, Object> told = Map.of();
        try {
            if (Json.read(text(answer.body())) instanceof Map<?, ?> problem) told = object(problem);
        } catch (IOException error) {
            // A proxy's page: the status says all there is.
        }
        long wait = 0;
        try {
            wait = (long) (1_000 * Double.parseDouble(answer.headers().firstValue("Retry-After").orElse("0")));
        } catch (NumberFormatException error) {
            // A date; the back-off counts.
        }
        Object message = first(told.get("detail"), told.get("error_description"), "status " + status);
        Object safe = first(told.get("retrySafe"), status >= 500 || status == 429);
        Object code = first(told.get("code"), told.get("error"), "unknown");
        Object id = told.get("requestId");
        return new PlatenException(message.toString(), status, code.toString(), Boolean.TRUE.equals(safe), id == null ? null : id.toString(),
            Math.min(MOST_WAIT, Math.max(0, wait)), null);
    }

    private static Object first(Object... values) {
        for (Object value : values) if (value != null) return value;
        return null;
    }

    private String member(String name) {
        Object value = account.get(name);
        if (value == null) throw new IllegalArgumentException("the account has no " + name);
        return value.toString();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }

    private static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** @throws CharacterCodingException what is no UTF-8 */
    private static String text(byte[] bytes) throws CharacterCodingException {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    }

    /** JSON (RFC 8259), since Java's standard library has none. */
    static final class Json {
        private static final int DEEPEST = 100;
        private final String text;
        private int at;

        private Json(String text) {
            this.text = text;
        }

        static Object read(String text) throws IOException {
            Json json = new Json(text);
            Object value = json.value(0);
            json.space();
            if (json.at < text.length()) throw json.wrong();
            return value;
        }

        static String write(Object value) {
            StringBuilder out = new StringBuilder();
            put(out, value);
            return out.toString();
        }

        private static void put(StringBuilder out, Object value) {
            if (value instanceof Map<?, ?> map) {
                String before = "{";
                if (map.isEmpty()) out.append(before);
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    out.append(before);
                    put(out, entry.getKey().toString());
                    out.append(':');
                    put(out, entry.getValue());
                    before = ",";
                }
                out.append('}');
            } else if (value instanceof Iterable<?> list) {
                String before = "";
                out.append('[');
                for (Object item : list) {
                    out.append(before);
                    put(out, item);
                    before = ",";
                }
                out.append(']');
            } else if (value == null || value instanceof Number || value instanceof Boolean) {
                out.append(value instanceof BigDecimal number ? number.toPlainString() : String.valueOf(value));
            } else {
                out.append('"');
                for (char c : value.toString().toCharArray()) {
                    if (c == '"' || c == '\\') out.append('\\').append(c);
                    else if (c < 0x20 || Character.isSurrogate(c)) out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
                    else out.append(c);
                }
                out.append('"');
            }
        }

        private Object value(int depth) throws IOException {
            if (depth > DEEPEST) throw wrong();
            space();
            char c = peek();
            if (c == '{') {
                Map<String, Object> map = new LinkedHashMap<>();
                if (opens('}')) return map;
                do {
                    space();
                    String name = string();
                    space();
                    expect(':');
                    map.put(name, value(depth + 1));
                } while (more('}'));
                return map;
            }
            if (c == '[') {
                List<Object> list = new ArrayList<>();
                if (opens(']')) return list;
                do list.add(value(depth + 1)); while (more(']'));
                return list;
            }
            if (c == '"') return string();
            for (Object[] word : new Object[][] {{"true", true}, {"false", false}, {"null", null}}) {
                if (!text.startsWith((String) word[0], at)) continue;
                at += ((String) word[0]).length();
                return word[1];
            }
            int from = at;
            while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) at++;
            try {
                return new BigDecimal(text.substring(from, at));
            } catch (NumberFormatException error) {
                throw wrong();
            }
        }

        private String string() throws IOException {
            StringBuilder out = new StringBuilder();
            for (expect('"'); peek() != '"'; at++) {
                char c = peek();
                if (c < 0x20) throw wrong();
                if (c == '\\') {
                    at++;
                    int escape = "\"\\/bfnrt".indexOf(peek());
                    if (escape >= 0) c = "\"\\/\b\f\n\r\t".charAt(escape);
                    else if (peek() == 'u' && text.length() >= at + 5 && text.substring(at + 1, at + 5).matches("[0-9a-fA-F]{4}")) {
                        c = (char) Integer.parseInt(text.substring(at + 1, at + 5), 16);
                        at += 4;
                    } else throw wrong();
                }
                out.append(c);
            }
            at++;
            return out.toString();
        }

        /** Goes past the opening bracket; true: nothing is in it, and the closing one is passed too. */
        private boolean opens(char close) throws IOException {
            at++;
            space();
            if (peek() != close) return false;
            at++;
            return true;
        }

        private boolean more(char close) throws IOException {
            space();
            char c = peek();
            if (c != ',' && c != close) throw wrong();
            at++;
            return c == ',';
        }

        private void expect(char c) throws IOException {
            if (peek() != c) throw wrong();
            at++;
        }

        private char peek() throws IOException {
            if (at >= text.length()) throw wrong();
            return text.charAt(at);
        }

        private void space() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
        }

        private IOException wrong() {
            return new IOException("this is no JSON at character " + at);
        }
    }
}
