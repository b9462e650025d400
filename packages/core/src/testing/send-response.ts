import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { durationMillis } from '../time/duration.ts';
import type { Fault } from './fault.ts';

/** A whole response, before it is sent. */
export interface PlannedResponse {
  /** HTTP status. */
  readonly status: number;
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body. */
  readonly body: Buffer;
}

const page =
  '<!doctype html><html><head><title>Sign in</title></head><body><form>Password</form></body></html>';

/**
 * The response that a fault puts in place of the right one; undefined when it leaves the right one.
 */
export function responseInstead(fault: Fault): PlannedResponse | undefined {
  const { status, html, redirect, errorBody, smsFailed, retryAfter } = fault;
  const more = { ...(retryAfter !== undefined && { 'retry-after': retryAfter }), ...fault.headers };

  const instead = (usual: number, type: string, body: string): PlannedResponse => ({
    status: status ?? usual,
    headers: { 'content-type': type, ...more },
    body: Buffer.from(body),
  });

  if (html) return instead(200, 'text/html; charset=utf-8', page);
  if (redirect !== undefined)
    return {
      status: status ?? 302,
      headers: { location: redirect, ...more },
      body: Buffer.alloc(0),
    };

  if (smsFailed !== undefined) {
    const words = `<result>failed</result><result_description>${smsFailed}</result_description>`;
    return instead(200, 'text/xml', `<?xml version="1.0"?><response>${words}</response>`);
  }

  if (errorBody !== undefined)
    return instead(200, 'application/json', JSON.stringify({ error: errorBody }));
  if (status === undefined) return undefined;
  const detail = 'A test asked for this response.';
  const problem = { title: `Status ${status}`, status, code: 'simulated_fault', detail };
  return instead(status, 'application/problem+json', JSON.stringify(problem));
}

/**
 * The response as it will be sent: the right one, or one in its place, with the damage of the
 * fault.
 */
function damagedResponse(right: PlannedResponse, fault: Fault): PlannedResponse {
  const { status, headers, body } = responseInstead(fault) ?? right;
  const changed: Record<string, string> = { ...headers };
  const range = rangeFor(fault.range, changed['content-range']);
  if (range === null) delete changed['content-range'];
  else if (range !== undefined) changed['content-range'] = range;
  if (fault.contentType !== undefined) changed['content-type'] = fault.contentType;
  let bytes = body;
  if (fault.brokenUtf8)
    bytes = Buffer.concat([bytes.subarray(0, 4), Buffer.from([0xff]), bytes.subarray(4)]);
  if (fault.quietCut !== undefined)
    bytes = bytes.subarray(0, Math.floor(bytes.length * fault.quietCut));
  if (fault.bomb !== undefined) bytes = Buffer.alloc(fault.bomb, ' ');
  const coding = fault.encoding ?? (fault.bomb === undefined ? undefined : 'gzip');
  if (
    coding !== undefined &&
    (changed['content-encoding'] === undefined || fault.bomb !== undefined)
  ) {
    changed['content-encoding'] = coding === 'br' ? 'br' : 'gzip';
    bytes = coding === 'br' ? brotliCompressSync(bytes) : gzipSync(bytes);
    if (coding === 'cut-gzip') bytes = bytes.subarray(0, -20);
  }

  return { status, headers: changed, body: bytes };
}

/** Content-Range after the fault; null to leave it out, undefined to leave it as it is. */
function rangeFor(fault: Fault['range'], range = ''): string | null | undefined {
  if (fault === undefined) return undefined;
  if (fault === 'none') return null;
  const [, first = 0, last = 0, total = 0] = (/(\d+)-(\d+)\/(\d+)/.exec(range) ?? []).map(Number);
  return fault === 'too-long'
    ? `${first}-${last + 1}/${total + 1}`
    : `${first + 7}-${last + 7}/${total + 7}`;
}

/** Sets a timer that ends with the server. */
export type Later = (run: () => void, ms: number) => void;

/**
 * Sends a response the way a fault says: damaged, cut, in drops, or not at all. Conditions,
 * `latency` and the choice of records (`clamp`, `shift`, `single`, `count`) are for the server to
 * carry out before.
 */
export function sendResponse(
  right: PlannedResponse,
  fault: Fault,
  response: ServerResponse,
  later: Later,
): void {
  if (fault.silent) return;
  if (fault.reset) return void response.socket?.destroy();
  if (fault.notHttp) return void response.socket?.end('SSH-2.0-OpenSSH_9.2\r\n');
  const { status, headers, body } = damagedResponse(right, fault);
  response.writeHead(status, { ...headers, 'content-length': body.length });
  const share = fault.stall ?? fault.cut;
  if (share !== undefined) {
    const part = body.subarray(0, Math.floor(body.length * share));
    // An empty part still needs its head on the way, or the client would see no response at all.
    if (part.length > 0) response.write(part);
    else response.flushHeaders();
    // A moment later, so that what was written arrives before the connection closes.
    if (fault.stall === undefined) later(() => response.socket?.destroy(), 5);
  } else if (fault.drip !== undefined) {
    drip(body, fault.drip, durationMillis(fault.dripEvery ?? 10, 'dripEvery'), response, later);
  } else response.end(body);
}

function drip(
  body: Buffer,
  bytes: number,
  everyMs: number,
  response: ServerResponse,
  later: Later,
): void {
  let at = 0;

  const step = () => {
    if (response.destroyed) return;
    response.write(body.subarray(at, at + bytes));
    at += bytes;
    if (at < body.length) later(step, everyMs);
    else response.end();
  };

  step();
}
