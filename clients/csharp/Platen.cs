using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace PlatenClient
{
    /// <summary>
    /// A client of Platen's HTTP interface (docs/http.md): one file, the standard library of .NET Framework 4.7.2, Mono or .NET.
    /// <code>
    /// var platen = new Platen(account);   // what `platen integration create --json` prints
    /// var id = await platen.PrintAsync(new Dictionary&lt;string, object&gt; { ["idT"] = "…", ["printer"] = "dock-3", ["data"] = records }, "order-4711");
    /// var job = await platen.WaitForAsync(id, TimeSpan.FromMinutes(1));
    /// </code>
    /// JSON comes as Dictionary&lt;string, object&gt;, List&lt;object&gt;, string, decimal or double, bool and null, and goes as any IDictionary,
    /// IEnumerable, string, number, bool or null. Threads may share a client.
    /// </summary>
    public sealed class Platen
    {
        static readonly string[] Over = { "printed", "failed", "canceled", "held" };
        /// <summary>ms: the first wait before a retry and the longest; the longest that a service may ask for; a token's margin.</summary>
        const int Backoff = 250, MostBackoff = 10000, MostWait = 60000, Margin = 15000;
        const int Every = 500;

        /// <summary>A secret goes to the address that was named, and nowhere else: redirects are not followed.</summary>
        static readonly HttpClient Http = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false }) { Timeout = Timeout.InfiniteTimeSpan };

        readonly IDictionary<string, object> account;
        readonly int retries;
        readonly TimeSpan timeout;
        readonly SemaphoreSlim one = new SemaphoreSlim(1);
        readonly Random random = new Random();
        string token;
        DateTime until;

        /// <param name="account">what `platen integration create --json` prints</param>
        /// <param name="retries">attempts after the first</param>
        /// <param name="timeout">for each request; 30 s where it is not given</param>
        public Platen(IDictionary<string, object> account, int retries = 5, TimeSpan? timeout = null)
        {
            this.account = account;
            this.retries = retries;
            this.timeout = timeout ?? TimeSpan.FromSeconds(30);
        }

        /// <summary>The job's ID, once the job is accepted. One key for each business event, the same for its retries.</summary>
        public async Task<string> PrintAsync(object request, string idempotencyKey = null, CancellationToken cancel = default(CancellationToken))
        {
            var key = idempotencyKey ?? Guid.NewGuid().ToString();
            try
            {
                var ids = await Ask(HttpMethod.Post, "", request, key, cancel).ConfigureAwait(false);
                return (string)(ids is List<object> list ? list[0] : ids);
            }
            catch (PlatenException error)
            {
                error.IdempotencyKey = key;
                throw;
            }
        }

        /// <summary>The same checks; nothing is printed.</summary>
        public async Task<Dictionary<string, object>> ValidateAsync(object request, CancellationToken cancel = default(CancellationToken))
        {
            return (Dictionary<string, object>)await Ask(HttpMethod.Post, "/validate", request, null, cancel).ConfigureAwait(false);
        }

        public async Task<Dictionary<string, object>> JobAsync(string id, CancellationToken cancel = default(CancellationToken))
        {
            return (Dictionary<string, object>)await Ask(HttpMethod.Get, "/" + Uri.EscapeDataString(id), null, null, cancel).ConfigureAwait(false);
        }

        /// <summary>The job, once it has ended or a person has to look.</summary>
        /// <exception cref="TimeoutException">That is not so within <paramref name="limit"/>.</exception>
        public async Task<Dictionary<string, object>> WaitForAsync(string id, TimeSpan limit, CancellationToken cancel = default(CancellationToken))
        {
            var clock = System.Diagnostics.Stopwatch.StartNew();
            for (;;)
            {
                var job = await JobAsync(id, cancel).ConfigureAwait(false);
                if (Over.Contains((string)job["status"])) return job;
                if (clock.Elapsed.TotalMilliseconds + Every > limit.TotalMilliseconds)
                    throw new TimeoutException("job " + id + " is " + job["status"] + " after " + limit);
                await Task.Delay(Every, cancel).ConfigureAwait(false);
            }
        }

        /// <summary>
        /// The event, if the message is of the service that has one of the secrets, and of the last <paramref name="tolerance"/>
        /// (docs/webhooks.md). Take a `webhook-id` once: a message may arrive twice.
        /// </summary>
        /// <param name="secrets">what `platen webhook create` printed; two while it is changed</param>
        /// <param name="body">the bytes as they came</param>
        /// <param name="headers">by name; upper and lower case are the same</param>
        /// <param name="tolerance">five minutes where it is not given</param>
        /// <exception cref="PlatenException">`webhook-unverified`</exception>
        public static Dictionary<string, object> Verify(
            IEnumerable<string> secrets, byte[] body, IEnumerable<KeyValuePair<string, string>> headers, TimeSpan? tolerance = null)
        {
            var given = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);
            foreach (var pair in headers) given[pair.Key] = pair.Value;
            Func<string, string> header = name => given.TryGetValue(name, out var value) ? value : "";
            var id = header("webhook-id");
            var at = header("webhook-timestamp");
            var signatures = header("webhook-signature");
            if (id == "" || at == "" || signatures == "")
                throw Unverified("it has no webhook-id, webhook-timestamp or webhook-signature");
            if (at.Length > 15 || !at.All(c => c >= '0' && c <= '9')) throw Unverified("its webhook-timestamp is no time");
            var away = Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - long.Parse(at, CultureInfo.InvariantCulture));
            if (away > (tolerance ?? TimeSpan.FromMinutes(5)).TotalSeconds)
                throw Unverified("its webhook-timestamp is too far from the time of this machine");
            var signed = Encoding.UTF8.GetBytes(id + "." + at + ".").Concat(body).ToArray();
            var fits = false;
            foreach (var secret in secrets)
            {
                var key = Convert.FromBase64String(secret.StartsWith("whsec_", StringComparison.Ordinal) ? secret.Substring(6) : secret);
                if (key.Length == 0) throw new ArgumentException("the secret of a webhook is empty");
                using (var hmac = new HMACSHA256(key))
                {
                    var right = "v1," + Convert.ToBase64String(hmac.ComputeHash(signed));
                    foreach (var signature in signatures.Split(' ')) fits |= Same(signature, right);
                }
            }
            if (!fits) throw Unverified("no signature of it fits the secret");
            try
            {
                return (Dictionary<string, object>)Json.Read(Utf8.GetString(body));
            }
            catch (Exception error) when (error is FormatException || error is ArgumentException)
            {
                throw Unverified("it is no JSON");
            }
        }

        /// <summary>Throws ArgumentException at what is no UTF-8.</summary>
        static readonly UTF8Encoding Utf8 = new UTF8Encoding(false, true);

        /// <summary>Takes as long whatever the difference is.</summary>
        static bool Same(string one, string other)
        {
            var difference = one.Length ^ other.Length;
            for (var i = 0; i < Math.Min(one.Length, other.Length); i++) difference |= one[i] ^ other[i];
            return difference == 0;
        }

        static PlatenException Unverified(string why)
        {
            return new PlatenException("the message is not verified: " + why, 0, "webhook-unverified", false, null, 0, null);
        }

        async Task<object> Ask(HttpMethod method, string path, object body, string key, CancellationToken cancel)
        {
            var mayRenew = true;
            for (var attempt = 0; ;)
            {
                try
                {
                    var request = new HttpRequestMessage(method, Member("printEndpoint") + path);
                    request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", await AccessToken(cancel).ConfigureAwait(false));
                    request.Headers.Add("x-tenant", Member("tenant"));
                    if (key != null) request.Headers.Add("Idempotency-Key", key);
                    if (body != null)
                    {
                        request.Content = new ByteArrayContent(Encoding.UTF8.GetBytes(Json.Write(body)));
                        request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
                    }
                    return await Send(request, cancel).ConfigureAwait(false);
                }
                catch (PlatenException error) when (error.Status == 401 && mayRenew && error.Code != "invalid_client")
                {
                    mayRenew = false;
                    await ForgetToken(cancel).ConfigureAwait(false);
                }
                catch (PlatenException error) when (error.RetrySafe && attempt < retries)
                {
                    double part;
                    lock (random) part = 0.5 + random.NextDouble() / 2;
                    var backoff = Math.Min(MostBackoff, Backoff * Math.Pow(2, attempt)) * part;
                    await Task.Delay((int)Math.Max(error.RetryAfter, backoff), cancel).ConfigureAwait(false);
                    attempt += 1;
                }
            }
        }

        async Task ForgetToken(CancellationToken cancel)
        {
            await one.WaitAsync(cancel).ConfigureAwait(false);
            token = null;
            one.Release();
        }

        async Task<string> AccessToken(CancellationToken cancel)
        {
            await one.WaitAsync(cancel).ConfigureAwait(false);
            try
            {
                if (token == null || DateTime.UtcNow >= until)
                {
                    var form = new FormUrlEncodedContent(new Dictionary<string, string>
                    {
                        ["grant_type"] = "client_credentials",
                        ["client_id"] = Member("apiKey"),
                        ["client_secret"] = Member("apiSecret"),
                        ["audience"] = Member("audience"),
                        ["scope"] = Member("scope"),
                    });
                    var request = new HttpRequestMessage(HttpMethod.Post, Member("tokenUrl")) { Content = form };
                    var told = (Dictionary<string, object>)await Send(request, cancel).ConfigureAwait(false);
                    token = (string)told["access_token"];
                    until = DateTime.UtcNow.AddMilliseconds(1000 * Convert.ToDouble(told["expires_in"], CultureInfo.InvariantCulture) - Margin);
                }
                return token;
            }
            finally
            {
                one.Release();
            }
        }

        async Task<object> Send(HttpRequestMessage request, CancellationToken cancel)
        {
            using (var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel))
            {
                limit.CancelAfter(timeout);
                try
                {
                    using (var answer = await Http.SendAsync(request, limit.Token).ConfigureAwait(false))
                    {
                        var text = Utf8.GetString(await answer.Content.ReadAsByteArrayAsync().ConfigureAwait(false));
                        if (answer.IsSuccessStatusCode) return Json.Read(text);
                        throw Refusal(answer, text);
                    }
                }
                catch (Exception error) when (!(error is PlatenException) && !cancel.IsCancellationRequested)
                {
                    // Whether the service has the request is not known; the key makes it harmless to ask again.
                    throw new PlatenException("the service cannot be reached", 0, "unreachable", true, null, 0, error);
                }
            }
        }

        static PlatenException Refusal(HttpResponseMessage answer, string text)
        {
            var status = (int)answer.StatusCode;
            Dictionary<string, object> told = null;
            try
            {
                told = Json.Read(text) as Dictionary<string, object>;
            }
            catch (FormatException)
            {
                // A proxy's page: the status says all there is.
            }
            Func<string, object> member = name => told != null && told.TryGetValue(name, out var value) ? value : null;
            var wait = answer.Headers.RetryAfter?.Delta?.TotalMilliseconds ?? 0;
            return new PlatenException(
                (member("detail") ?? member("error_description") ?? "status " + status).ToString(),
                status,
                (member("code") ?? member("error") ?? "unknown").ToString(),
                member("retrySafe") is bool safe ? safe : status >= 500 || status == 429,
                member("requestId")?.ToString(),
                Math.Min(MostWait, Math.Max(0, wait)),
                null);
        }

        string Member(string name)
        {
            if (account.TryGetValue(name, out var value) && value != null) return value.ToString();
            throw new ArgumentException("the account has no " + name);
        }
    }

    /// <summary>The service has refused, or (status 0) no answer came, so that a print may or may not have been accepted.</summary>
    public sealed class PlatenException : Exception
    {
        public int Status { get; }
        public string Code { get; }
        public bool RetrySafe { get; }
        /// <summary>For support; null where the service did not say it.</summary>
        public string RequestId { get; }
        /// <summary>Of a print: with this key the same request may be sent again. Otherwise null.</summary>
        public string IdempotencyKey { get; internal set; }
        internal double RetryAfter { get; }

        internal PlatenException(string message, int status, string code, bool retrySafe, string requestId, double retryAfter, Exception cause)
            : base(message, cause)
        {
            Status = status;
            Code = code;
            RetrySafe = retrySafe;
            RequestId = requestId;
            RetryAfter = retryAfter;
        }
    }

    /// <summary>JSON (RFC 8259): System.Text.Json is not in .NET Framework.</summary>
    static class Json
    {
        const int Deepest = 100;
        const string Escapes = "\"\\/bfnrt";

        public static string Write(object value)
        {
            var text = new StringBuilder();
            Put(text, value);
            return text.ToString();
        }

        static void Put(StringBuilder text, object value)
        {
            if (value == null) text.Append("null");
            else if (value is string s) PutString(text, s);
            else if (value is bool b) text.Append(b ? "true" : "false");
            else if (value is IDictionary map)
            {
                var before = "{";
                if (map.Count == 0) text.Append(before);
                foreach (DictionaryEntry entry in map)
                {
                    text.Append(before);
                    PutString(text, entry.Key.ToString());
                    text.Append(':');
                    Put(text, entry.Value);
                    before = ",";
                }
                text.Append('}');
            }
            else if (value is IEnumerable list)
            {
                var before = "";
                text.Append('[');
                foreach (var item in list)
                {
                    text.Append(before);
                    Put(text, item);
                    before = ",";
                }
                text.Append(']');
            }
            else if (value is double d) text.Append(d.ToString("R", CultureInfo.InvariantCulture));
            else text.Append(Convert.ToDecimal(value, CultureInfo.InvariantCulture).ToString(CultureInfo.InvariantCulture));
        }

        static void PutString(StringBuilder text, string value)
        {
            text.Append('"');
            foreach (var c in value)
            {
                if (c == '"' || c == '\\') text.Append('\\').Append(c);
                else if (c < ' ' || char.IsSurrogate(c)) text.Append("\\u").Append(((int)c).ToString("x4", CultureInfo.InvariantCulture));
                else text.Append(c);
            }
            text.Append('"');
        }

        /// <exception cref="FormatException">what is no JSON</exception>
        public static object Read(string text)
        {
            var at = 0;
            var value = Value(text, ref at, 0);
            Space(text, ref at);
            if (at < text.Length) throw Wrong(at);
            return value;
        }

        static object Value(string text, ref int at, int depth)
        {
            if (depth > Deepest) throw Wrong(at);
            Space(text, ref at);
            switch (Peek(text, at))
            {
                case '{':
                    var map = new Dictionary<string, object>();
                    if (Opens(text, ref at, '}')) return map;
                    do
                    {
                        Space(text, ref at);
                        var name = String(text, ref at);
                        Space(text, ref at);
                        if (Peek(text, at++) != ':') throw Wrong(at);
                        map[name] = Value(text, ref at, depth + 1);
                    } while (More(text, ref at, '}'));
                    return map;
                case '[':
                    var list = new List<object>();
                    if (Opens(text, ref at, ']')) return list;
                    do list.Add(Value(text, ref at, depth + 1)); while (More(text, ref at, ']'));
                    return list;
                case '"':
                    return String(text, ref at);
            }
            if (Word(text, ref at, "true")) return true;
            if (Word(text, ref at, "false")) return false;
            if (Word(text, ref at, "null")) return null;
            var from = at;
            while (at < text.Length && "+-.0123456789eE".IndexOf(text[at]) >= 0) at++;
            var number = text.Substring(from, at - from);
            if (decimal.TryParse(number, NumberStyles.Float, CultureInfo.InvariantCulture, out var exact)) return exact;
            if (double.TryParse(number, NumberStyles.Float, CultureInfo.InvariantCulture, out var near)) return near;
            throw Wrong(from);
        }

        static string String(string text, ref int at)
        {
            if (Peek(text, at) != '"') throw Wrong(at);
            var value = new StringBuilder();
            for (at++; Peek(text, at) != '"'; at++)
            {
                var c = text[at];
                if (c < ' ') throw Wrong(at);
                if (c == '\\')
                {
                    var escaped = Peek(text, ++at);
                    var escape = Escapes.IndexOf(escaped);
                    if (escape >= 0) c = "\"\\/\b\f\n\r\t"[escape];
                    else if (escaped == 'u' && at + 5 <= text.Length &&
                        ushort.TryParse(text.Substring(at + 1, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var code))
                    {
                        c = (char)code;
                        at += 4;
                    }
                    else throw Wrong(at);
                }
                value.Append(c);
            }
            at++;
            return value.ToString();
        }

        /// <summary>Goes past the opening bracket; true: nothing is in it, and the closing one is passed too.</summary>
        static bool Opens(string text, ref int at, char close)
        {
            at++;
            Space(text, ref at);
            if (Peek(text, at) != close) return false;
            at++;
            return true;
        }

        static bool More(string text, ref int at, char close)
        {
            Space(text, ref at);
            var c = Peek(text, at);
            if (c != ',' && c != close) throw Wrong(at);
            at++;
            return c == ',';
        }

        static bool Word(string text, ref int at, string word)
        {
            if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0) return false;
            at += word.Length;
            return true;
        }

        static char Peek(string text, int at)
        {
            if (at >= text.Length) throw Wrong(at);
            return text[at];
        }

        static void Space(string text, ref int at)
        {
            while (at < text.Length && " \t\r\n".IndexOf(text[at]) >= 0) at++;
        }

        static FormatException Wrong(int at)
        {
            return new FormatException("this is no JSON at character " + at.ToString(CultureInfo.InvariantCulture));
        }
    }
}
