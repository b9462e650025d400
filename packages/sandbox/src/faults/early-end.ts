import type { ServerResponse } from 'node:http';

type End = { readonly share: number; readonly silent: boolean };

/**
 * Lets the body of a response end early: its bytes are held back until all are known, then a share of them is sent under
 * the head of the whole, and the connection is closed or falls silent.
 */
export function endEarly(response: ServerResponse, end: End): void {
  const held: Buffer[] = [];
  const write = response.write.bind(response) as (bytes: Buffer, done: () => void) => boolean;
  const hold = (chunk: unknown, encoding: unknown) => {
    if (typeof chunk === 'string') held.push(Buffer.from(chunk, encodingOf(encoding)));
    else if (chunk instanceof Uint8Array) held.push(Buffer.from(chunk));
  };
  response.write = ((chunk: unknown, encoding?: unknown, done?: unknown) => {
    hold(chunk, encoding);
    const call = typeof encoding === 'function' ? encoding : done;
    if (typeof call === 'function') process.nextTick(call);
    return true;
  }) as typeof response.write;
  response.end = ((chunk?: unknown, encoding?: unknown) => {
    hold(chunk, encoding);
    const body = Buffer.concat(held);
    const part = body.subarray(0, Math.floor(body.length * end.share));
    const finish = () => {
      if (!end.silent) response.destroy();
    };
    // An empty part still needs its head on the way, or the client would see no answer at all.
    if (part.length > 0) write(part, finish);
    else {
      response.flushHeaders();
      setImmediate(finish);
    }
    return response;
  }) as typeof response.end;
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8';
}
