import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { PlannedResponse } from '@call-attribution/core/testing';

/** Holds back everything that is written to a response. Once it is complete, `send` gets it and may use the response. */
export function captureResponse(response: ServerResponse, send: (right: PlannedResponse) => void): void {
  const parts: Buffer[] = [];
  let status = 200;
  let headers: Record<string, string> = {};
  const hold = (chunk: unknown, encoding: unknown) => {
    if (typeof chunk === 'string') parts.push(Buffer.from(chunk, encodingOf(encoding)));
    else if (chunk instanceof Uint8Array) parts.push(Buffer.from(chunk));
  };
  // Properties of the object hide the methods of its class; deleting them brings the methods back.
  const own = response as Partial<Pick<ServerResponse, 'writeHead' | 'flushHeaders' | 'write' | 'end'>>;
  own.flushHeaders = () => {};
  own.writeHead = ((code: number, given: OutgoingHttpHeaders = {}) => {
    status = code;
    headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
    return response;
  }) as typeof response.writeHead;
  own.write = ((chunk: unknown, encoding?: unknown, done?: unknown) => {
    hold(chunk, encoding);
    const callback = typeof encoding === 'function' ? encoding : done;
    if (typeof callback === 'function') process.nextTick(callback);
    return true;
  }) as typeof response.write;
  own.end = ((chunk?: unknown, encoding?: unknown) => {
    hold(chunk, encoding);
    delete own.writeHead;
    delete own.flushHeaders;
    delete own.write;
    delete own.end;
    send({ status, headers, body: Buffer.concat(parts) });
    return response;
  }) as typeof response.end;
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8';
}
