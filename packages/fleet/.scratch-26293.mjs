var __defProp = Object.defineProperty;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __esm = (fn, res, err) => function __init() {
  if (err) throw err[0];
  try {
    return fn && (res = (0, fn[__getOwnPropNames(fn)[0]])(fn = 0)), res;
  } catch (e) {
    throw err = [e], e;
  }
};
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};

// ../core/src/errors/calls-error.ts
function nameErrors(type, name) {
  Object.defineProperty(type.prototype, "name", { value: name, configurable: true, writable: true });
}
function withHint(message, hint) {
  if (!hint) return message;
  if (hint.includes("\n")) return `${message}
${hint}`;
  return /[.!?:]$/.test(message) ? `${message} ${hint}` : `${message}; ${hint}`;
}
var brand, CallsError, ConfigurationError, HttpError, ConnectionError, DeadlineError, ResponseError;
var init_calls_error = __esm({
  "../core/src/errors/calls-error.ts"() {
    "use strict";
    brand = /* @__PURE__ */ Symbol.for("@call-attribution/error");
    CallsError = class _CallsError extends Error {
      /** Stable name of what went wrong. */
      code;
      /** Could the same request succeed when it is sent again? */
      isRetryable;
      /** @param words what happened, and what to do next; `message` has both. */
      constructor(code, words, details = {}) {
        const { cause, isRetryable = false, ...rest } = details;
        const { message, hint = rest.hint } = typeof words === "string" ? { message: words } : words;
        super(withHint(message, hint), cause === void 0 ? void 0 : { cause });
        this.code = code;
        this.isRetryable = isRetryable;
        Object.assign(this, rest, hint === void 0 ? {} : { hint });
      }
      /** What happened: the message without its hint, for programs that show the two in different places. */
      get summary() {
        const { message, hint } = this;
        return hint !== void 0 && message.endsWith(hint) ? message.slice(0, -hint.length).replace(/(?:;? |\n)$/, "") : message;
      }
      static {
        nameErrors(_CallsError, "CallsError");
        Object.defineProperty(_CallsError.prototype, brand, { value: true });
        Object.defineProperty(_CallsError, Symbol.hasInstance, {
          value(error) {
            return this === _CallsError ? _CallsError.is(error) : Function.prototype[Symbol.hasInstance].call(this, error);
          }
        });
      }
      static is(error, ...codes) {
        if (!(error instanceof Error) || !(brand in error)) return false;
        return codes.length === 0 || codes.includes(error.code);
      }
      /** Plain form for structured logs. */
      toJSON() {
        const { name, code, message, isRetryable, status, requestId, attempts, url, body, hint, retryAfterMs } = this;
        return { name, code, message, isRetryable, status, requestId, attempts, url, body, hint, retryAfterMs };
      }
    };
    ConfigurationError = class _ConfigurationError extends CallsError {
      static {
        nameErrors(_ConfigurationError, "ConfigurationError");
      }
    };
    HttpError = class _HttpError extends CallsError {
      static {
        nameErrors(_HttpError, "HttpError");
      }
    };
    ConnectionError = class _ConnectionError extends CallsError {
      static {
        nameErrors(_ConnectionError, "ConnectionError");
      }
    };
    DeadlineError = class _DeadlineError extends CallsError {
      static {
        nameErrors(_DeadlineError, "DeadlineError");
      }
    };
    ResponseError = class _ResponseError extends CallsError {
      static {
        nameErrors(_ResponseError, "ResponseError");
      }
    };
  }
});

// ../query-dsl/src/nearest.ts
function nearest(typed, candidates) {
  const name = letters(typed);
  if (typed.length > maxLength || name === "") return void 0;
  const meaningful = letters(typed.slice(sharedPrefix(`${typed}_`, candidates).length));
  let best;
  let bestDistance = mostEdits(meaningful.length) + 1;
  for (const candidate of candidates) {
    const distance = distanceTo(candidate, name, meaningful.length > 2, bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}
function distanceTo(candidate, name, mayBePart, most) {
  const other = letters(candidate);
  if (name === other) return 0;
  if (mayBePart) {
    if (other.startsWith(name) || candidate.toLowerCase().split(separators).includes(name)) return 0.5;
  }
  return Math.abs(other.length - name.length) < most ? editDistance(name, other) : most;
}
function sharedPrefix(name, candidates) {
  const lower = name.toLowerCase();
  for (let end = lower.length; end > 0; end--) {
    if (!separators.test(lower[end - 1])) continue;
    const prefix = lower.slice(0, end);
    if (candidates.filter((candidate) => candidate.toLowerCase().startsWith(prefix)).length > 1)
      return prefix;
  }
  return "";
}
function editDistance(a, b) {
  let beforeLast = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(last[j] + 1, row[j - 1] + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, beforeLast[j - 2] + 1);
      }
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length];
}
var maxLength, mostEdits, letters, separators;
var init_nearest = __esm({
  "../query-dsl/src/nearest.ts"() {
    "use strict";
    maxLength = 80;
    mostEdits = (length) => length < 2 ? 0 : Math.min(3, Math.max(1, Math.floor(length / 3)));
    letters = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
    separators = /[_.-]+/;
  }
});

// ../core/src/errors/setup-messages.ts
var newClient, secretProblems, exampleUrl, urlProblems, proxyProblems, setupMessages;
var init_setup_messages = __esm({
  "../core/src/errors/setup-messages.ts"() {
    "use strict";
    newClient = "Create a new client.";
    secretProblems = {
      missing: ["is empty", "Is the environment variable set, and is its name spelled correctly?"],
      line_break: [
        "has a line break inside",
        "Pass only the key: a file or two keys may have been pasted at once."
      ],
      space: [
        "has a space or a control character inside",
        'Pass only the key, without a label such as "Access key:".'
      ],
      not_ascii: [
        "has a character outside ASCII",
        "Copy the key again from the key manager: word processors and mail programs replace hyphens and quotes."
      ],
      quoted: ["is wrapped in quotes", "Remove the quotes: some shells and .env readers keep them in the value."]
    };
    exampleUrl = "Pass a URL such as https://api.example.com.";
    urlProblems = {
      undefined: [
        "is undefined",
        "Is the environment variable set, and is its name spelled correctly? Leave baseUrl out to read CALLS_BASE_URL."
      ],
      missing: ["is missing", exampleUrl],
      not_absolute: ["is not an absolute URL", exampleUrl],
      not_http: ["must begin with https:// or http://", "Add the scheme."],
      credentials: ["has credentials in it", "Pass them as auth: apiKeys(...) or bearerToken(...)."],
      query: ["has a query or a fragment", "Keep only the scheme, the host and the path."],
      version: [
        "already names the version",
        "Remove /v2 or /v3 and everything after it; use the option version."
      ]
    };
    proxyProblems = {
      not_a_url: "is not a URL",
      not_http: "must begin with http:// or https://",
      not_encoded: "has more than scheme, credentials, host and port"
    };
    setupMessages = {
      optionInvalid: (name, expected, found) => ({
        message: `${name} must be ${expected}; got ${found}.`
      }),
      headerNameInvalid: () => ({
        message: "headers has a name that an HTTP header cannot have.",
        hint: "Names have letters, digits and hyphens, without a colon."
      }),
      headerReserved: (name, option) => ({
        message: `headers must not set ${name}.`,
        hint: option === null ? "The client sets it." : `Use the option ${option}.`
      }),
      optionUnknown: (name, near, known) => ({
        message: `There is no option ${name}.`,
        hint: near === void 0 ? `Known options: ${known.join(", ")}.` : `Did you mean ${near}?`
      }),
      urlInvalid(option, problem) {
        const [what, hint] = urlProblems[problem];
        return { message: `${option} ${what}.`, hint };
      },
      proxyInvalid: (variable, problem) => ({
        message: `${variable} ${proxyProblems[problem]}.`,
        hint: problem === "not_http" ? "Other kinds of proxies, such as SOCKS, need a dispatcher of undici." : "Expected http://host:port or http://user:password@host:port, with characters such as @ / # ? % of the password percent-encoded."
      }),
      optionsExclude: (one, other) => ({
        message: `${one} and ${other} cannot be used together.`,
        hint: "Pass one of them: each decides how requests are sent."
      }),
      notRead: (option) => ({
        message: `${option} is not read when baseUrl is given.`,
        hint: `Leave ${option} out, or leave baseUrl out to read it from there.`
      }),
      settingsUnusable: (problems) => ({
        message: `createClient() found no connection to use. ${problems.map((problem) => `${problem}.`).join(" ")}`,
        hint: "Set these variables (CALLS_ACCESS_KEY_FILE and so on name files instead), pass baseUrl and auth, or pass config: true to read calls.config.json."
      }),
      logUnusable: (problem, hint) => ({
        message: `${problem}.`,
        ...hint === void 0 ? {} : { hint: hint.replace(/^./, (letter) => letter.toUpperCase()) }
      }),
      secretsMissing: (names) => ({
        message: `The ${names.join(" and the ")} ${names.length > 1 ? "are" : "is"} missing: undefined was passed.`,
        hint: secretProblems.missing[1]
      }),
      secretInvalid(name, problem) {
        const [what, hint] = secretProblems[problem];
        return { message: `The ${name} ${what}.`, hint };
      },
      secretNotString: (name, found) => ({
        message: `The ${name} must be a string; found ${found}.`,
        hint: secretProblems.missing[1]
      }),
      authInvalid: () => ({
        message: "auth must be made by apiKeys(access, secret) or bearerToken(token).",
        hint: "Plain objects are refused, because the keys in them could be printed by accident."
      }),
      authMissing: (version) => ({
        message: `No credentials were given, and ${version} needs them.`,
        hint: `Pass auth: ${version === "v3" ? "apiKeys(access, secret) or bearerToken(token)" : "bearerToken(token)"} to createClient.`
      }),
      keysForV2: () => ({
        message: "v2 takes a bearer token only; an access key and a secret key were given.",
        hint: "Use auth: bearerToken(token), or version: 'v3' with these keys."
      }),
      legacyUrlMissing: () => ({
        message: "The SMS listing has a URL of its own, and none was given.",
        hint: "Pass legacyBaseUrl, the URL before /ibp_api.php."
      }),
      legacyKeysMissing: () => ({
        message: "The SMS listing takes an access key and a secret key only.",
        hint: "Pass legacyAuth: apiKeys(access, secret) in addition to the bearer token."
      }),
      sidInvalid: (isCount) => ({
        message: "sid must be the id of a call, a string that is not empty.",
        hint: isCount ? "In v2 this is the count request: use countCalls()." : "Take it from the field sid of a record."
      }),
      timeZoneInvalid: () => ({
        message: "timeZone must be an IANA name such as America/New_York or UTC.",
        hint: "The API does not say which time zone its times are in. Ask whoever manages the account."
      }),
      noNextPage: () => ({
        message: "There is no page after this one.",
        hint: "Check hasNext() before you call next()."
      }),
      clientClosed: () => ({ message: "The client has been closed.", hint: newClient }),
      dispatcherClosed: () => ({
        message: "The client or its dispatcher has been closed.",
        hint: newClient
      })
    };
  }
});

// ../core/src/errors/check-options.ts
function checkOptions(given, shape, prefix = "") {
  if (!isObject(given)) throw wrongOption("options", kinds.object, given);
  for (const [name, value] of Object.entries(given)) {
    const kind = Object.hasOwn(shape, name) ? shape[name] : void 0;
    if (kind === void 0) throw unknownOption(name, Object.keys(shape), prefix);
    if (value === void 0) continue;
    if (!kind.accepts(value)) throw wrongOption(prefix + name, kind, value);
    if (kind.inner && isObject(value)) checkOptions(value, kind.inner, `${prefix}${name}.`);
  }
}
function unknownOption(name, known, prefix) {
  const near = nearest(name, known);
  return new ConfigurationError(
    "invalid_option",
    setupMessages.optionUnknown(
      prefix + name.slice(0, 40),
      near && prefix + near,
      known.map((each) => prefix + each)
    )
  );
}
function shown(value, { isShown }) {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return isShown && value.length <= 20 ? JSON.stringify(value) : "a string";
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return `a ${typeof value}`;
  const type = Object.prototype.toString.call(value).slice(8, -1);
  return type === "Object" ? "an object" : `an object of type ${type}`;
}
var isObject, kinds, whole, withMethods, group, wrongOption;
var init_check_options = __esm({
  "../core/src/errors/check-options.ts"() {
    "use strict";
    init_nearest();
    init_calls_error();
    init_setup_messages();
    isObject = (value) => Object.prototype.toString.call(value) === "[object Object]";
    kinds = {
      flag: { expected: "true or false", accepts: (value) => typeof value === "boolean" },
      callback: { expected: "a function", accepts: (value) => typeof value === "function" },
      string: { expected: "a string", accepts: (value) => typeof value === "string" },
      object: { expected: "an object", accepts: (value) => isObject(value) },
      milliseconds: {
        expected: "milliseconds above 0, or Infinity",
        accepts: (value) => typeof value === "number" && value > 0,
        isShown: true
      },
      list: { expected: "an array", accepts: (value) => Array.isArray(value) },
      signal: {
        expected: "an AbortSignal",
        accepts: (value) => withMethods("", "addEventListener", "throwIfAborted").accepts(value)
      },
      /** Checked elsewhere, with a better message. */
      anything: { expected: "a value", accepts: () => true }
    };
    whole = (least) => ({
      expected: `a whole number of at least ${least}`,
      accepts: (value) => Number.isSafeInteger(value) && value >= least,
      isShown: true
    });
    withMethods = (expected, ...methods) => ({
      expected,
      accepts: (value) => typeof value === "object" && value !== null && methods.every((name) => typeof value[name] === "function")
    });
    group = (inner) => ({
      expected: `an object with ${Object.keys(inner).join(", ")}`,
      accepts: isObject,
      inner
    });
    wrongOption = (name, kind, value) => new ConfigurationError(
      "invalid_option",
      setupMessages.optionInvalid(name, kind.expected, shown(value, kind))
    );
  }
});

// ../core/src/errors/index.ts
var init_errors = __esm({
  "../core/src/errors/index.ts"() {
    "use strict";
    init_calls_error();
    init_check_options();
  }
});

// src/errors.ts
var FleetError, passing;
var init_errors2 = __esm({
  "src/errors.ts"() {
    "use strict";
    init_errors();
    FleetError = class _FleetError extends CallsError {
      static {
        nameErrors(_FleetError, "FleetError");
      }
      constructor(code, message, details = {}) {
        super(code, message, { ...details, isRetryable: passing.has(code) });
      }
    };
    passing = /* @__PURE__ */ new Set(["board_unavailable", "target_unavailable"]);
  }
});

// src/board/live-copy.ts
var LiveCopy;
var init_live_copy = __esm({
  "src/board/live-copy.ts"() {
    "use strict";
    LiveCopy = class {
      #entries = /* @__PURE__ */ new Map();
      /** Keys that begin with `lane.` and with `lane.101.`, so that listing an account's lanes does not walk over all others. */
      #groups = /* @__PURE__ */ new Map();
      #waiting = /* @__PURE__ */ new Set();
      get(key) {
        return this.#entries.get(key);
      }
      /** The entries whose keys begin with `prefix`. Cheap for a prefix that ends with a dot. */
      *entries(prefix) {
        const group2 = this.#groups.get(prefix);
        if (group2 === void 0 && prefix.endsWith(".")) return;
        for (const key of group2 ?? this.#entries.keys())
          if (group2 !== void 0 || key.startsWith(prefix)) yield this.#entries.get(key);
      }
      /** Takes an entry, unless the copy has a later one. Entries may come twice, late and in any order. */
      take(entry) {
        const known = this.#entries.get(entry.key);
        if (known !== void 0 && known.revision > entry.revision) return false;
        this.#entries.set(entry.key, entry);
        if (known?.revision === entry.revision) return false;
        if (known === void 0) this.#group(entry.key);
        this.wake();
        return true;
      }
      /** Takes an entry although the copy has a later one: the server has lost that, or begun anew. */
      correct(entry) {
        if (!this.#entries.has(entry.key)) this.#group(entry.key);
        this.#entries.set(entry.key, entry);
        this.wake();
      }
      /** Forgets a key that the server no longer has. */
      forget(key) {
        if (!this.#entries.delete(key)) return;
        for (const group2 of this.#groups.values()) group2.delete(key);
        this.wake();
      }
      /** Forgets everything: the server has begun anew. */
      clear() {
        this.#entries.clear();
        this.#groups.clear();
        this.wake();
      }
      /** The highest revision in it; 0 when it is empty. */
      highest() {
        let highest = 0;
        for (const { revision } of this.#entries.values()) highest = Math.max(highest, revision);
        return highest;
      }
      /** Ends all waits. */
      wake() {
        for (const go of [...this.#waiting]) go();
      }
      /** Resolves at the next change, after `withinMs`, or with the signal. */
      changed({
        signal,
        withinMs
      } = {}) {
        if (signal?.aborted) return Promise.resolve();
        return new Promise((resolve) => {
          const timer = withinMs === void 0 ? void 0 : setTimeout(() => go(), withinMs);
          const go = () => {
            clearTimeout(timer);
            signal?.removeEventListener("abort", go);
            this.#waiting.delete(go);
            resolve();
          };
          signal?.addEventListener("abort", go);
          this.#waiting.add(go);
        });
      }
      #group(key) {
        for (let dot = key.indexOf("."); dot !== -1; dot = key.indexOf(".", dot + 1)) {
          const prefix = key.slice(0, dot + 1);
          const group2 = this.#groups.get(prefix);
          if (group2 === void 0) this.#groups.set(prefix, /* @__PURE__ */ new Set([key]));
          else group2.add(key);
        }
      }
    };
  }
});

// src/board/board-clock.ts
var windowMs, silenceMs, BoardClock;
var init_board_clock = __esm({
  "src/board/board-clock.ts"() {
    "use strict";
    windowMs = 6e4;
    silenceMs = 15e3;
    BoardClock = class {
      #ticks;
      #largest = null;
      #before = null;
      #windowEnds = 0;
      #since = null;
      #lastSuccess = Number.NEGATIVE_INFINITY;
      /** @param ticks a clock that is never set, in milliseconds. */
      constructor(ticks = () => performance.now()) {
        this.#ticks = ticks;
      }
      /** A time stamp of the server has just arrived. */
      sample(at2) {
        const ticks = this.#ticks();
        if (ticks >= this.#windowEnds) {
          this.#before = this.#largest;
          this.#largest = null;
          this.#windowEnds = ticks + windowMs;
        }
        this.#largest = Math.max(this.#largest ?? Number.NEGATIVE_INFINITY, at2 - ticks);
      }
      /** Board time. Before the first sample that of this machine. */
      now() {
        const difference = Math.max(
          this.#largest ?? Number.NEGATIVE_INFINITY,
          this.#before ?? Number.NEGATIVE_INFINITY
        );
        return Math.round(Number.isFinite(difference) ? this.#ticks() + difference : Date.now());
      }
      /** The server has answered a write, whichever way. */
      succeeded() {
        if (this.contactSince === null) this.#since = this.now();
        this.#lastSuccess = this.#ticks();
      }
      /** A write got no answer. */
      failed() {
        this.#since = null;
      }
      /** Board time since when writes have gone through without a break; null while they do not, or when there were none for a while. */
      get contactSince() {
        return this.#ticks() - this.#lastSuccess > silenceMs ? null : this.#since;
      }
    };
  }
});

// src/board/nats-bucket.ts
async function openBucket(modules, connection, place, job, replicas) {
  const bucket = bucketOf(job);
  const stream = `KV_${bucket}`;
  const manager = await modules.jetstream.jetstreamManager(connection, { timeout: 2e3 });
  const config = settings(stream, bucket, replicas ?? copies(connection, place));
  const info = await manager.streams.info(stream).catch((error) => {
    const { JetStreamApiError, JetStreamApiCodes } = modules.jetstream;
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)
      return manager.streams.add(config);
    throw error;
  });
  checkSettings(info.config, config, place.name, bucket);
  return { manager, client: manager.jetstream(), stream, prefix: `$KV.${bucket}.`, info };
}
function settings(stream, bucket, replicas) {
  return {
    name: stream,
    subjects: [`$KV.${bucket}.>`],
    description: "Board of a fleet: who does what",
    retention: "limits",
    storage: "file",
    discard: "new",
    max_msgs_per_subject: 1,
    max_bytes: maxBytes,
    max_age: 0,
    num_replicas: replicas,
    duplicate_window: windowSeconds * nanosPerSecond,
    // A direct read may be answered by a server that lags behind.
    allow_direct: false,
    allow_rollup_hdrs: true
  };
}
function copies({ info }, { hosts }) {
  const servers = Math.max(hosts.length, info?.connect_urls?.length ?? 0);
  return info?.cluster !== void 0 && servers >= 3 ? 3 : 1;
}
function checkSettings(found, wanted, name, bucket) {
  const others = relied.filter((key) => JSON.stringify(found[key]) !== JSON.stringify(wanted[key]));
  const more = [
    ...found.duplicate_window < 10 * nanosPerSecond ? ["duplicate_window"] : [],
    ...found.mirror !== void 0 ? ["mirror"] : [],
    ...found.sources?.length ? ["sources"] : [],
    ...found.sealed ? ["sealed"] : [],
    ...found.no_ack ? ["no_ack"] : []
  ];
  const wrong = [...others, ...more];
  if (wrong.length > 0)
    throw new FleetError(
      "board_unfit",
      `The bucket ${bucket} on ${name} was made with other settings (${wrong.join(", ")}).`,
      {
        hint: `Give the job another name, or remove the bucket if nothing needs it: nats kv del ${bucket}`
      }
    );
}
var bucketOf, maxBytes, nanosPerSecond, windowSeconds, relied;
var init_nats_bucket = __esm({
  "src/board/nats-bucket.ts"() {
    "use strict";
    init_errors2();
    bucketOf = (job) => `FLEET_${job}`;
    maxBytes = 256 * 1024 * 1024;
    nanosPerSecond = 1e9;
    windowSeconds = 120;
    relied = ["subjects", "retention", "storage", "max_msgs_per_subject", "max_age"];
  }
});

// src/board/nats-connection.ts
import { readFileSync as readFileSync2 } from "node:fs";
import { setTimeout as setTimeout2 } from "node:timers/promises";
async function loadNats() {
  try {
    const [transport, jetstream] = await Promise.all([
      import("@nats-io/transport-node"),
      import("@nats-io/jetstream")
    ]);
    return { transport, jetstream };
  } catch (cause) {
    if (cause.code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new ConfigurationError(
      "missing_package",
      {
        message: "A board on NATS needs the packages @nats-io/transport-node and @nats-io/jetstream.",
        hint: "Install them with: npm install @nats-io/transport-node @nats-io/jetstream"
      },
      { cause }
    );
  }
}
function natsPlace(url) {
  const [, scheme, login, list] = form.exec(url.replaceAll(/,(?:nats|tls):\/\//g, ",")) ?? [];
  const hosts = list?.split(",") ?? [];
  if (hosts.length === 0 || !hosts.every((each) => host.test(each)))
    throw new FleetError(
      "board_unfit",
      "The URL of a board on NATS must be nats://host, nats://host:4222 or nats://host,host,host."
    );
  const [user, password] = (login ?? "").split(":", 2).map(decoded);
  return {
    name: `${scheme}://${hosts.join(",")}`,
    hosts,
    isTls: scheme === "tls",
    ...user ? { user, password } : {}
  };
}
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
async function connectNats({ transport }, place, options, signal) {
  const settings2 = {
    servers: [...place.hosts],
    name: "call-attribution-fleet",
    authenticator: authenticator(transport, place, options),
    ...place.isTls || options.tls !== void 0 ? { tls: certificates(options.tls) } : {},
    timeout: 5e3,
    reconnectTimeWait: 500,
    reconnectJitter: 250,
    reconnectJitterTLS: 250,
    pingInterval: 5e3,
    maxPingOut: 2,
    noAsyncTraces: true
  };
  for (; ; ) {
    signal.throwIfAborted();
    try {
      const probe = await transport.connect({ ...settings2, reconnect: false });
      await probe.close();
      signal.throwIfAborted();
      return await transport.connect({ ...settings2, waitOnFirstConnect: true, maxReconnectAttempts: -1 });
    } catch (cause) {
      signal.throwIfAborted();
      const refusal = refusalOf(transport, place, cause);
      if (refusal !== null) throw refusal;
      await setTimeout2(500, void 0, { signal }).catch(() => void 0);
    }
  }
}
function refusalOf({ errors }, { name }, cause) {
  if (cause instanceof FleetError) return cause;
  if (cause instanceof errors.AuthorizationError || cause instanceof errors.UserAuthenticationExpiredError)
    return new FleetError("board_unfit", `${name} refuses the credentials.`, {
      hint: "Check NATS_CREDS, or NATS_USER and NATS_PASSWORD, or NATS_TOKEN.",
      cause
    });
  const { code } = cause.cause ?? cause;
  if (cause instanceof errors.InvalidArgumentError || /CERT|SIGNATURE|ERR_TLS|ERR_SSL/.test(code ?? ""))
    return new FleetError(
      "board_unfit",
      `There is no encrypted connection to ${name}${code ? ` (${code})` : ""}.`,
      {
        hint: "Check that the server offers TLS, and that the authority of its certificate is known here.",
        cause
      }
    );
  return null;
}
function authenticator(transport, place, options) {
  const {
    NATS_CREDS: path,
    NATS_TOKEN: token,
    NATS_USER: user,
    NATS_PASSWORD: password
  } = options.env ?? process.env;
  if (place.user) return transport.usernamePasswordAuthenticator(place.user, place.password ?? "");
  const { credentials } = options;
  if (credentials !== void 0) return transport.credsAuthenticator(credentials);
  if (path) return transport.credsAuthenticator(() => readCredentials(path));
  if (token) return transport.tokenAuthenticator(token);
  if (user) return transport.usernamePasswordAuthenticator(user, password ?? "");
  return () => void 0;
}
function certificates({ ca, cert, key } = {}) {
  return {
    ...ca === void 0 ? {} : { ca },
    ...cert === void 0 ? {} : { cert },
    ...key === void 0 ? {} : { key }
  };
}
function readCredentials(path) {
  try {
    return readFileSync2(path);
  } catch (cause) {
    throw new FleetError(
      "board_unfit",
      `The credentials file that NATS_CREDS names cannot be read (${cause.code}).`,
      { hint: "Check its path and permissions.", cause }
    );
  }
}
var form, host;
var init_nats_connection = __esm({
  "src/board/nats-connection.ts"() {
    "use strict";
    init_errors();
    init_errors2();
    form = /^(nats|tls):\/\/(?:([^@/]*)@)?([^@/?#]+)\/?$/;
    host = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
  }
});

// src/board/nats-refusal.ts
function natsRefusal(modules, name, job, error, hasJetStream) {
  if (error instanceof FleetError) return error;
  const denied = natsDenial(modules, name, job, error);
  if (denied !== null) return denied;
  const { JetStreamApiError } = modules.jetstream;
  const refused = [error, error.cause].find((each) => each instanceof JetStreamApiError);
  if (refused === void 0) {
    if (!isUnheard(error) || hasJetStream) return null;
    return new FleetError("board_unfit", `${name} does not have JetStream enabled.`, {
      hint: "Start nats-server with -js, or with jetstream in its configuration.",
      cause: error
    });
  }
  if (refused.status === 503 || refused.code === noSuitableServers) return null;
  if (refused.code === notForAccount)
    return new FleetError(
      "board_unfit",
      `JetStream is not enabled for the account of this user on ${name}.`,
      {
        hint: "Enable it in the configuration of the server.",
        cause: error
      }
    );
  return new FleetError(
    "board_unfit",
    `${name} refuses the bucket ${bucketOf(job)}: ${refused.message} (${refused.code}).`,
    {
      hint: "Check the limits of the account: the bucket needs 256 MiB of storage on each server that keeps a copy.",
      cause: error
    }
  );
}
function natsDenial({ transport }, name, job, error) {
  const { PermissionViolationError } = transport.errors;
  const denied = [error, error.cause].find((each) => each instanceof PermissionViolationError);
  if (denied === void 0) return null;
  const deed = denied.operation === "publish" ? "publish" : "subscribe";
  return new FleetError("board_unfit", `${name} does not let this user ${deed} to ${denied.subject}.`, {
    hint: `Give the user the permissions that the README of fleet lists, for the bucket ${bucketOf(job)}.`,
    cause: error
  });
}
var noSuitableServers, notForAccount, isUnheard;
var init_nats_refusal = __esm({
  "src/board/nats-refusal.ts"() {
    "use strict";
    init_errors2();
    init_nats_bucket();
    noSuitableServers = 10005;
    notForAccount = 10039;
    isUnheard = (error) => error.name === "JetStreamNotEnabled";
  }
});

// src/board/nats-watch.ts
import { randomUUID } from "node:crypto";
async function watchBucket({ transport }, { manager, client, stream, prefix }, watcher, signal) {
  const inbox = transport.createInbox();
  const name = `fleet-${randomUUID()}`;
  const made = await manager.consumers.add(stream, {
    name,
    deliver_subject: inbox,
    filter_subject: `${prefix}>`,
    deliver_policy: "last_per_subject",
    ack_policy: "none",
    replay_policy: "instant",
    max_deliver: 1,
    flow_control: true,
    idle_heartbeat: heartbeatMs * nanosPerMs,
    inactive_threshold: 6e4 * nanosPerMs,
    num_replicas: 1,
    mem_storage: true
  });
  watcher.onTime(Date.parse(made.created));
  const consumer = await client.consumers.getBoundPushConsumer({
    deliver_subject: inbox,
    idle_heartbeat: heartbeatMs * nanosPerMs
  });
  let told = 0;
  let isReady = made.num_pending === 0;
  if (isReady) watcher.onReady();
  const messages = await consumer.consume({
    callback: (message) => {
      const { deliverySequence, pending } = message.info;
      if (deliverySequence !== told + 1) return end();
      told = deliverySequence;
      watcher.onMessage(message, isReady);
      if (isReady || pending > 0) return;
      isReady = true;
      watcher.onReady();
    }
  });
  const end = () => messages.stop();
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  for await (const notice of messages.status())
    if (notice.type === "heartbeat" ? notice.lastConsumerSequence !== told : notice.type !== "flow_control")
      end();
  signal.removeEventListener("abort", end);
  manager.consumers.delete(stream, name).catch(() => void 0);
}
var heartbeatMs, nanosPerMs;
var init_nats_watch = __esm({
  "src/board/nats-watch.ts"() {
    "use strict";
    heartbeatMs = 3e3;
    nanosPerMs = 1e6;
  }
});

// src/board/served-board.ts
import { randomUUID as randomUUID2 } from "node:crypto";
import { setTimeout as setTimeout3 } from "node:timers/promises";
function servedBoard(name, server, copy, clock) {
  let isOpen = true;
  const learn = (key, revision, { entry }) => {
    clock.succeeded();
    const isLostThere = copy.get(key)?.revision === revision && (entry?.revision ?? 0) < revision;
    if (entry === null) copy.forget(key);
    else if (isLostThere) copy.correct(entry);
    else copy.take(entry);
    return null;
  };
  const won = (entry) => {
    clock.succeeded();
    copy.take(entry);
    return entry;
  };
  async function write(key, value, revision) {
    const text = JSON.stringify(value);
    const nonce = randomUUID2();
    const until = performance.now() + patienceMs;
    let mayBeWritten = false;
    for (; ; ) {
      if (!isOpen) throw new FleetError("board_unavailable", `The board ${name} was closed.`);
      const answer = await server.put(key, text, revision, nonce);
      if (answer.kind === "won")
        return won({ key, value: JSON.parse(text), revision: answer.revision, at: answer.at });
      if (answer.kind === "refused") throw answer.error;
      mayBeWritten ||= answer.kind === "unknown";
      if (answer.kind !== "away") {
        const stored = await server.read(key);
        if (stored?.nonce === nonce && stored.entry !== null) return won(stored.entry);
        if (stored !== null && (stored.revision !== revision || answer.kind === "lost"))
          return learn(key, revision, stored);
        if (answer.kind === "lost" && !mayBeWritten) {
          clock.succeeded();
          return null;
        }
      }
      if (performance.now() >= until) {
        clock.failed();
        const cause = answer.kind === "lost" ? null : answer.cause;
        throw new FleetError(
          "board_unavailable",
          `The board ${name} did not answer a write, which may have been made or not.`,
          { hint: "Check that the server runs.", cause }
        );
      }
      await setTimeout3(pauseMs);
    }
  }
  const board = {
    name,
    now: () => clock.now(),
    get contactSince() {
      return isOpen ? clock.contactSince : null;
    },
    get: (key) => copy.get(key),
    entries: (prefix) => copy.entries(prefix),
    write,
    changed: (options) => copy.changed(options),
    async close() {
      if (!isOpen) return;
      isOpen = false;
      copy.wake();
      await server.close();
    },
    [Symbol.asyncDispose]: () => board.close()
  };
  return board;
}
var patienceMs, pauseMs;
var init_served_board = __esm({
  "src/board/served-board.ts"() {
    "use strict";
    init_errors2();
    patienceMs = 6e3;
    pauseMs = 200;
  }
});

// src/board/nats-board.ts
var nats_board_exports = {};
__export(nats_board_exports, {
  natsBoard: () => natsBoard
});
import { setTimeout as setTimeout4 } from "node:timers/promises";
async function natsBoard(url, job, options) {
  const place = natsPlace(url);
  const modules = await loadNats();
  const [copy, clock] = [new LiveCopy(), new BoardClock()];
  const server = new NatsServer(modules, place, job, options, copy, clock);
  await server.open();
  return servedBoard(place.name, server, copy, clock);
}
function entryOf(key, message) {
  try {
    return { key, value: message.json(), revision: message.seq, at: message.time.getTime() };
  } catch {
    return null;
  }
}
var nonceHeader, timeoutMs, againMs, refusedAgainMs, wrongRevision, NatsServer, waitsFor;
var init_nats_board = __esm({
  "src/board/nats-board.ts"() {
    "use strict";
    init_board_clock();
    init_live_copy();
    init_nats_bucket();
    init_nats_connection();
    init_nats_refusal();
    init_nats_watch();
    init_served_board();
    nonceHeader = "Fleet-Write";
    timeoutMs = 2e3;
    againMs = 300;
    refusedAgainMs = 5e3;
    wrongRevision = /* @__PURE__ */ new Set([10071, 10164]);
    NatsServer = class {
      #modules;
      #place;
      #job;
      #options;
      #copy;
      #clock;
      #ending = new AbortController();
      /** Keys that somebody has deleted with another program, with the revision of the marker. */
      #deleted = /* @__PURE__ */ new Map();
      #running;
      #connection;
      #bucket;
      #isConnected = false;
      #trouble = null;
      /** When the bucket was created. */
      #created;
      #endWatch;
      constructor(modules, place, job, options, copy, clock) {
        this.#modules = modules;
        this.#place = place;
        this.#job = job;
        this.#options = options;
        this.#copy = copy;
        this.#clock = clock;
      }
      /** Resolves once the live copy is whole. */
      async open() {
        const { signal, onWaiting } = this.#options;
        const abort = () => this.#ending.abort(signal?.reason);
        signal?.addEventListener("abort", abort);
        const waiting = globalThis.setTimeout(
          () => onWaiting?.(this.#place.name, waitsFor(this.#trouble)),
          2e3
        );
        try {
          await new Promise((ready, fail) => {
            this.#running = this.#run(ready).catch(fail);
          });
        } catch (error) {
          await this.close();
          throw error;
        } finally {
          clearTimeout(waiting);
          signal?.removeEventListener("abort", abort);
        }
      }
      async close() {
        this.#ending.abort();
        await this.#connection?.close();
        await this.#running;
      }
      async put(key, text, revision, nonce) {
        const [connection, bucket] = [this.#connection, this.#bucket];
        if (connection === void 0 || bucket === void 0 || !this.#isConnected)
          return { kind: "away", cause: this.#trouble };
        const { JetStreamApiError } = this.#modules.jetstream;
        const expected = revision === 0 ? this.#deleted.get(key) ?? 0 : revision;
        const headers = this.#modules.transport.headers();
        headers.set(nonceHeader, nonce);
        try {
          const { seq, duplicate } = await bucket.client.publish(bucket.prefix + key, text, {
            // A cluster checks the expected sequence before it agrees on the order of writes and lets several through; ids of
            // messages are checked afterwards. Both together decide races (nats-server #4320).
            msgID: `${key}@${expected}`,
            expect: { lastSubjectSequence: expected },
            headers,
            timeout: timeoutMs,
            retries: 0
          });
          return duplicate ? { kind: "lost" } : { kind: "won", revision: seq, at: this.#clock.now() };
        } catch (cause) {
          if (cause instanceof JetStreamApiError && wrongRevision.has(cause.code)) return { kind: "lost" };
          const error = natsDenial(this.#modules, this.#place.name, this.#job, cause);
          if (error !== null) return { kind: "refused", error };
          return { kind: isUnheard(cause) ? "away" : "unknown", cause };
        }
      }
      async read(key) {
        const bucket = this.#bucket;
        if (bucket === void 0 || !this.#isConnected) return null;
        try {
          const found = await bucket.manager.streams.getMessage(bucket.stream, {
            last_by_subj: bucket.prefix + key
          });
          if (found === null) return { revision: 0, entry: null, nonce: null };
          const entry = entryOf(key, found);
          if (entry === null) this.#forget(key, found.seq);
          return { revision: entry?.revision ?? 0, entry, nonce: found.header?.get(nonceHeader) || null };
        } catch {
          return null;
        }
      }
      /** Connects and watches until the board is closed. Fails only before it was ready. */
      async #run(ready) {
        const { signal } = this.#ending;
        let isReady = false;
        for (; ; ) {
          let pauseMs2 = againMs;
          try {
            signal.throwIfAborted();
            await this.#follow(await this.#connected(), () => {
              isReady = true;
              ready();
            });
          } catch (error) {
            if (isReady && signal.aborted) return;
            if (signal.aborted) throw signal.reason;
            const hasJetStream = this.#connection?.info?.jetstream === true;
            const refusal = natsRefusal(this.#modules, this.#place.name, this.#job, error, hasJetStream);
            if (!isReady && refusal !== null) throw refusal;
            if (refusal !== null) pauseMs2 = refusedAgainMs;
            this.#trouble = error;
          }
          await setTimeout4(pauseMs2, void 0, { signal }).catch(() => void 0);
        }
      }
      async #connected() {
        const known = this.#connection;
        if (known !== void 0 && !known.isClosed()) return known;
        const connection = await connectNats(this.#modules, this.#place, this.#options, this.#ending.signal);
        this.#connection = connection;
        this.#isConnected = true;
        void this.#listen(connection);
        return connection;
      }
      async #listen(connection) {
        for await (const { type } of connection.status()) {
          if (type === "disconnect") this.#isConnected = false;
          if (type !== "reconnect") continue;
          this.#isConnected = true;
          this.#endWatch?.();
        }
        this.#isConnected = false;
        this.#endWatch?.();
      }
      /** Fills the live copy from the bucket and follows its changes, until something goes wrong. */
      async #follow(connection, onReady) {
        const copy = this.#copy;
        const highest = copy.highest();
        const bucket = await openBucket(
          this.#modules,
          connection,
          this.#place,
          this.#job,
          this.#options.replicas
        );
        const { created, state } = bucket.info;
        const isOther = this.#created !== void 0 && (created !== this.#created || state.last_seq < highest);
        this.#created = created;
        this.#bucket = bucket;
        const seen = /* @__PURE__ */ new Set();
        const watch = new AbortController();
        this.#endWatch = () => watch.abort();
        const { signal } = this.#ending;
        signal.addEventListener("abort", this.#endWatch);
        const watcher = {
          onTime: (at2) => this.#clock.sample(at2),
          onMessage: (message, isChange) => {
            const key = message.subject.slice(bucket.prefix.length);
            seen.add(key);
            const entry = entryOf(key, message);
            if (isChange) this.#clock.sample(message.time.getTime());
            if (entry === null) this.#forget(key, message.seq);
            else if (isOther && !isChange) copy.correct(entry);
            else copy.take(entry);
          },
          onReady: () => {
            if (isOther) {
              for (const { key } of [...copy.entries("")]) if (!seen.has(key)) copy.forget(key);
            }
            this.#trouble = null;
            onReady();
          }
        };
        try {
          await watchBucket(this.#modules, bucket, watcher, watch.signal);
        } finally {
          signal.removeEventListener("abort", this.#endWatch);
        }
      }
      #forget(key, revision) {
        this.#deleted.set(key, revision);
        if ((this.#copy.get(key)?.revision ?? 0) < revision) this.#copy.forget(key);
      }
    };
    waitsFor = (trouble) => trouble instanceof Error ? trouble.message : "it does not answer";
  }
});

// ../test-tools/src/nats.ts
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
var places = [...(process.env.PATH ?? "").split(":"), "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
function findNats() {
  const found = places.map((place) => join(place, "nats-server")).find(isProgram);
  if (found !== void 0) return found;
  const line = "NATS tests are left out: nats-server is not installed (Debian: apt-get install nats-server).";
  if (process.env.CI && process.platform === "linux") throw new Error(line);
  process.stderr.write(`${line}
`);
  return null;
}
async function startNats(options = {}) {
  const program = findNats();
  if (program === null)
    throw new Error("This test needs nats-server. On Debian: apt-get install nats-server");
  const { nodes: count = 1 } = options;
  const folder = mkdtempSync(join(tmpdir(), "calls-nats-"));
  const ports = await freePorts(2 * count);
  const routes = ports.slice(count).map((port) => `nats://127.0.0.1:${port}`);
  const nodes = ports.slice(0, count).map((port, i) => {
    const cluster = count === 1 ? [] : ["--cluster_name", "test", "--cluster", `${routes[i]}`, "--routes", routes.join(",")];
    return new Node(program, join(folder, `n${i + 1}`), `n${i + 1}`, port, cluster, options);
  });
  const nats = {
    url: nodes.map((node) => node.url).join(",").replaceAll(",nats://", ","),
    nodes,
    async stop() {
      await Promise.all(nodes.map((node) => node.kill()));
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  };
  try {
    await Promise.all(nodes.map((node) => node.start()));
  } catch (error) {
    await nats.stop();
    throw error;
  }
  return nats;
}
var script = '"$@" & echo $!; cat > /dev/null; kill -9 $! 2> /dev/null; wait $!';
var Node = class {
  name;
  url;
  #program;
  #folder;
  #args;
  #shell;
  #complaint = "";
  pid = 0;
  constructor(program, folder, name, port, cluster, { config = "", jetStream = true }) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "nats.conf"), config);
    this.#program = program;
    this.#folder = folder;
    this.name = name;
    this.url = `nats://127.0.0.1:${port}`;
    this.#args = [
      ...["-c", join(folder, "nats.conf"), "-n", name, "-a", "127.0.0.1", "-p", String(port)],
      ...["-l", join(folder, "log"), "--ports_file_dir", folder],
      ...jetStream ? ["-js", "-sd", join(folder, "data")] : [],
      ...cluster
    ];
  }
  async start() {
    if (this.#shell !== void 0) return;
    for (const file of [...this.#portFiles(), "log"]) rmSync(join(this.#folder, file), { force: true });
    const shell = spawn("sh", ["-c", script, "sh", this.#program, ...this.#args], { stdio: "pipe" });
    this.#shell = shell;
    shell.stdout.once("data", (line) => {
      this.pid = Number(line);
    });
    this.#complaint = "";
    shell.stderr.on("data", (text) => {
      this.#complaint += text;
    });
    while (this.#portFiles().length === 0) {
      const words = this.#complaint + this.#log();
      if (this.#complaint !== "" || /\[FTL\]/.test(words))
        throw new Error(`nats-server did not start:
${words}`);
      await new Promise((done) => setTimeout(done, 10));
    }
  }
  async kill() {
    const shell = this.#shell;
    if (shell === void 0) return;
    this.#shell = void 0;
    const ended = once(shell, "exit");
    shell.stdin?.end();
    await ended;
  }
  removeData() {
    if (this.#shell !== void 0) throw new Error(`${this.name} still runs`);
    rmSync(join(this.#folder, "data"), { recursive: true, force: true });
  }
  #portFiles() {
    return readdirSync(this.#folder).filter((file) => file.endsWith(".ports"));
  }
  #log() {
    const path = join(this.#folder, "log");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }
};
async function freePorts(count) {
  const servers = [];
  for (let i = 0; i < count; i += 1) {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    servers.push(server);
  }
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// src/board/memory-board.ts
init_errors2();
init_live_copy();
var BoardMemory = class {
  now;
  #entries = /* @__PURE__ */ new Map();
  #copies = /* @__PURE__ */ new Set();
  #revision = 0;
  /** @param now its clock, in milliseconds; default that of the machine. */
  constructor(now = Date.now) {
    this.now = now;
  }
  /** Compare-and-set; null when the key has another revision. */
  write(key, value, revision) {
    if ((this.#entries.get(key)?.revision ?? 0) !== revision) return null;
    this.#revision += 1;
    const kept = freeze(JSON.parse(JSON.stringify(value)));
    const entry = Object.freeze({ key, value: kept, revision: this.#revision, at: this.now() });
    this.#entries.set(key, entry);
    for (const copy of this.#copies) copy.take(entry);
    return entry;
  }
  /** Begins a live copy. */
  follow(copy) {
    for (const entry of this.#entries.values()) copy.take(entry);
    this.#copies.add(copy);
  }
  /** Ends it. */
  leave(copy) {
    this.#copies.delete(copy);
  }
};
function memoryBoard(memory = new BoardMemory()) {
  const copy = new LiveCopy();
  const since = memory.now();
  let isOpen = true;
  memory.follow(copy);
  const board = {
    name: "memory:",
    now: () => memory.now(),
    get contactSince() {
      return isOpen ? since : null;
    },
    get: (key) => copy.get(key),
    entries: (prefix) => copy.entries(prefix),
    async write(key, value, revision) {
      if (!isOpen) throw new FleetError("board_unavailable", "The board memory: was closed.");
      return memory.write(key, value, revision);
    },
    changed: (options) => copy.changed(options),
    async close() {
      isOpen = false;
      memory.leave(copy);
      copy.wake();
    },
    [Symbol.asyncDispose]: () => board.close()
  };
  return board;
}
function freeze(value) {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

// src/board/open-board.ts
init_errors();
init_errors2();

// src/board/board-options.ts
init_errors();
var boardOptions = {
  replicas: whole(1),
  credentials: { expected: "bytes", accepts: (value) => value instanceof Uint8Array },
  tls: group({ ca: kinds.string, cert: kinds.string, key: kinds.string }),
  env: kinds.anything,
  signal: kinds.signal,
  onWaiting: kinds.callback
};

// src/board/open-board.ts
var urlKind = {
  expected: "a string such as nats://host, postgres://user@host/database or memory:",
  accepts: kinds.string.accepts
};
var memories = /* @__PURE__ */ new Map();
async function openBoard(url, job, options = {}) {
  if (!urlKind.accepts(url)) throw wrongOption("url", urlKind, url);
  checkOptions(options, boardOptions);
  if (!/^[a-z0-9-]{1,40}$/.test(job))
    throw new FleetError("job_invalid", "The name of a job is 1 to 40 of a-z, 0-9 and hyphens.");
  options.signal?.throwIfAborted();
  if (url.startsWith("memory:")) {
    const place = `${url} ${job}`;
    const memory = memories.get(place) ?? new BoardMemory();
    memories.set(place, memory);
    return memoryBoard(memory);
  }
  if (/^(?:nats|tls):\/\//.test(url)) return (await Promise.resolve().then(() => (init_nats_board(), nats_board_exports))).natsBoard(url, job, options);
  throw new FleetError(
    "board_unfit",
    "The board must be nats://host, postgres://user@host/database or memory:."
  );
}

// ../../../../../tmp/b3.ts
import { connect } from "@nats-io/transport-node";
import { jetstreamManager } from "@nats-io/jetstream";
var t = performance.now();
var log = (...a) => {
  console.log((performance.now() - t | 0) + "ms", ...a);
  t = performance.now();
};
var tryOpen = async (url, options = {}) => {
  await tryOpen2(url, options);
  await new Promise((d) => setTimeout(d, 300));
  console.log(process.getActiveResourcesInfo().filter((x) => x === "Timeout").length, process.getActiveResourcesInfo().join());
};
var tryOpen2 = async (url, options = {}) => {
  t = performance.now();
  try {
    const b = await openBoard(url, "one", { signal: AbortSignal.timeout(2500), onWaiting: (...a) => log("waiting", ...a), ...options });
    log("opened", b.name);
    const e = await b.write("job", { a: 1 }, 0);
    const e2 = await b.write("job", { a: 2 }, e.revision);
    log(await b.write("job", { a: 3 }, e.revision), e2);
    await b.close();
  } catch (e) {
    log(e.code, e.message, "|", e.hint, "| cause", e.cause?.name, e.cause?.message, e.cause?.code);
  }
};
var n = await startNats({ jetStream: false });
log("no js");
await tryOpen(n.url);
await n.stop();
await tryOpen("nats://127.0.0.1:1");
await tryOpen("nats://");
await tryOpen("nats://a:b@host/x");
var users = `authorization { users: [
 { user: admin, password: secret }
 { user: least, password: pw, permissions: { publish: ["$KV.FLEET_one.>", "$JS.API.INFO", "$JS.API.STREAM.CREATE.KV_FLEET_one", "$JS.API.STREAM.INFO.KV_FLEET_one", "$JS.API.STREAM.MSG.GET.KV_FLEET_one", "$JS.API.CONSUMER.*.KV_FLEET_one.>", "$JS.FC.>"], subscribe: ["_INBOX.>"] } }
 { user: none, password: pw, permissions: { publish: ["foo"], subscribe: ["_INBOX.>"] } }
 { user: noinbox, password: pw, permissions: { publish: [">"], subscribe: ["foo"] } }
 { user: nocreate, password: pw, permissions: { publish: ["$KV.FLEET_two.>", "$JS.API.INFO", "$JS.API.STREAM.INFO.*"], subscribe: ["_INBOX.>"] } }
 { user: nowrite, password: pw, permissions: { publish: ["$JS.API.INFO", "$JS.API.STREAM.CREATE.KV_FLEET_one", "$JS.API.STREAM.INFO.KV_FLEET_one", "$JS.API.STREAM.MSG.GET.KV_FLEET_one", "$JS.API.CONSUMER.*.KV_FLEET_one.>", "$JS.FC.>"], subscribe: ["_INBOX.>"] } }
] }`;
n = await startNats({ config: users });
var at = (user) => n.url.replace("//", `//${user}@`);
log("wrong");
await tryOpen(at("admin:wrong"));
log("none at all");
await tryOpen(n.url, { env: {} });
log("env");
await tryOpen(n.url, { env: { NATS_USER: "admin", NATS_PASSWORD: "secret" } });
log("noperm");
await tryOpen(at("none:pw"));
log("noinbox");
await tryOpen(at("noinbox:pw"));
log("nocreate");
await tryOpen(at("nocreate:pw"));
log("nowrite");
await tryOpen(at("nowrite:pw"));
var nc = await connect({ servers: n.url.slice(7), user: "admin", pass: "secret" });
var jsm = await jetstreamManager(nc);
await jsm.streams.delete("KV_FLEET_one");
log("least");
await tryOpen(at("least:pw"));
console.log((await jsm.streams.info("KV_FLEET_one")).config);
await jsm.streams.delete("KV_FLEET_one");
await jsm.streams.add({ name: "KV_FLEET_one", subjects: ["$KV.FLEET_one.>"], max_age: 1e10, max_msgs_per_subject: 5, storage: "memory" });
log("other");
await tryOpen(at("admin:secret"));
await nc.close();
await n.stop();
console.log("stopped", process.getActiveResourcesInfo());
n = await startNats({ config: "jetstream { max_file_store: 1MB }", jetStream: true });
log("small");
await tryOpen(n.url);
log("r3 on one");
await tryOpen(n.url, { replicas: 3 });
await n.stop();
console.log("stopped", process.getActiveResourcesInfo());
setInterval(() => console.log(process.getActiveResourcesInfo(), process._getActiveHandles().map((h) => h.constructor.name + (h.spawnargs ?? ""))), 3e3).unref();
