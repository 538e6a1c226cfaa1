"""A client of Platen's HTTP interface (docs/http.md): one file, the standard library of Python 3.9 or later.

    client = Platen(account)                      # what `platen integration create --json` prints
    job = client.print({"idT": "…", "printer": "dock-3", "data": [{"ean": "4006381333931"}]}, idempotency_key="order-4711")
    print(client.wait_for(job)["status"])
"""

import base64
import hashlib
import hmac
import http.client
import json
import random
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

_OVER = ("printed", "failed", "canceled", "held")
# s: the first wait and the longest before a retry, the longest that a service may ask for, a token's margin.
_BACKOFF, _MOST_BACKOFF, _MOST_WAIT, _MARGIN = 0.25, 10.0, 60.0, 15.0
# No connection, an answer that breaks off or is no HTTP, one that is no JSON.
_NO_ANSWER = (OSError, http.client.HTTPException, ValueError)


class PlatenError(Exception):
    """The service has refused. `status` None: no answer came, so a print may or may not have been accepted."""

    def __init__(self, message, status=None, code="unknown", retry_safe=False, request_id=None, retry_after=0.0):
        super().__init__(message)
        self.status, self.code, self.retry_safe = status, code, retry_safe
        self.request_id, self.retry_after = request_id, retry_after
        #: Of a print: with this key the same request may be sent again.
        self.idempotency_key = None


class webhooks:
    """What a receiver does with a message of a webhook (docs/webhooks.md)."""

    @staticmethod
    def verify(secrets, body, headers, tolerance=300):
        """The event, if the message is of the service that has the secret, and of the last `tolerance` s.

        `secrets`: what `platen webhook create` printed; a list while it is changed. `body`: the bytes as they came. `headers`:
        anything with `items()`. Take a `webhook-id` once: a message may arrive twice. Raises PlatenError `webhook-unverified`.
        """
        given = {name.lower(): value for name, value in headers.items()}
        message, at, signatures = (given.get("webhook-" + name) for name in ("id", "timestamp", "signature"))
        if not message or not at or not signatures:
            raise _unverified("it has no webhook-id, webhook-timestamp or webhook-signature")
        if not re.fullmatch(r"[0-9]{1,15}", at):
            raise _unverified("its webhook-timestamp is no time")
        if abs(time.time() - int(at)) > tolerance:
            raise _unverified("its webhook-timestamp is too far from the time of this machine")
        body = body.encode() if isinstance(body, str) else bytes(body)
        signed = f"{message}.{at}.".encode() + body
        fits = False
        for secret in [secrets] if isinstance(secrets, str) else secrets:
            key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret)
            if not key:
                raise ValueError("the secret of a webhook is empty")
            right = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
            for signature in signatures.split(" "):
                fits = hmac.compare_digest(signature.encode(), right.encode()) or fits
        if not fits:
            raise _unverified("no signature of it fits the secret")
        return json.loads(body)


def _unverified(why):
    return PlatenError("the message is not verified: " + why, code="webhook-unverified")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A secret goes to the address that was named, and nowhere else."""

    def redirect_request(self, *_args):
        return None


class Platen:
    """Threads may share one. `retries`: attempts after the first; `timeout`: s without a byte of an answer."""

    def __init__(self, account, retries=5, timeout=30.0):
        self._account, self._retries, self._timeout = account, retries, timeout
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._lock = threading.Lock()
        self._token, self._until = None, 0.0

    def print(self, request, idempotency_key=None):
        """The job's ID, once the job is accepted. One key for each business event, the same for its retries."""
        key = idempotency_key or str(uuid.uuid4())
        try:
            ids = self._ask("POST", "", request, {"Idempotency-Key": key})
        except PlatenError as error:
            error.idempotency_key = key
            raise
        return ids if isinstance(ids, str) else ids[0]

    def validate(self, request):
        """The same checks; nothing is printed."""
        return self._ask("POST", "/validate", request)

    def job(self, job_id):
        return self._ask("GET", "/" + urllib.parse.quote(job_id, safe=""))

    def wait_for(self, job_id, timeout=None, every=0.5):
        """The job, once it has ended or a person has to look. Raises TimeoutError after `timeout` s."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            job = self.job(job_id)
            if job["status"] in _OVER:
                return job
            if deadline is not None and time.monotonic() + every > deadline:
                raise TimeoutError(f"job {job_id} is {job['status']} after {timeout} s")
            time.sleep(every)

    def _ask(self, method, path, body=None, headers=None):
        may_renew, attempt = True, 0
        while True:
            try:
                sent = {"Authorization": "Bearer " + self._access_token(), "x-tenant": self._account["tenant"]}
                sent.update(headers or {})
                data = None
                if body is not None:
                    sent["Content-Type"] = "application/json"
                    data = json.dumps(body).encode()
                return self._send(method, self._account["printEndpoint"] + path, data, sent)
            except PlatenError as error:
                if error.status == 401 and may_renew and error.code != "invalid_client":
                    may_renew = False
                    with self._lock:
                        self._token = None
                    continue
                if not error.retry_safe or attempt >= self._retries:
                    raise
                backoff = min(_MOST_BACKOFF, _BACKOFF * 2**attempt) * random.uniform(0.5, 1)
                time.sleep(max(error.retry_after, backoff))
                attempt += 1

    def _access_token(self):
        with self._lock:
            if self._token is None or time.monotonic() >= self._until:
                account = self._account
                form = urllib.parse.urlencode(
                    {
                        "grant_type": "client_credentials",
                        "client_id": account["apiKey"],
                        "client_secret": account["apiSecret"],
                        "audience": account["audience"],
                        "scope": account["scope"],
                    }
                )
                told = self._send("POST", account["tokenUrl"], form.encode(), {})
                self._token = told["access_token"]
                self._until = time.monotonic() + told["expires_in"] - _MARGIN
            return self._token

    def _send(self, method, url, data, headers):
        request = urllib.request.Request(url, data=data, headers=headers, method=method)
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except _NO_ANSWER as error:
            # Whether the service has the request is not known; the key makes it harmless to ask again.
            raise PlatenError("the service cannot be reached", code="unreachable", retry_safe=True) from error


def _refusal(error):
    try:
        told = json.load(error)
    except _NO_ANSWER:
        told = {}
    if not isinstance(told, dict):
        told = {}
    message = told.get("detail") or told.get("error_description") or f"status {error.code}"
    retry_safe = told.get("retrySafe", error.code >= 500 or error.code == 429)
    try:
        wait = min(_MOST_WAIT, max(0.0, float(error.headers.get("Retry-After") or 0)))
    except ValueError:
        wait = 0.0
    code = told.get("code") or told.get("error") or "unknown"
    return PlatenError(message, error.code, code, retry_safe, told.get("requestId"), wait)
