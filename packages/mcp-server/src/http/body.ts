import type { IncomingMessage } from 'node:http';

/** A request body that cannot be used, with the status to answer. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Reads a JSON body up to a limit. A longer one is refused as soon as the limit is passed. */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new BodyError(415, 'Unsupported Media Type: Content-Type must be application/json.');
  }
  const tooLarge = `Payload Too Large: the body may have ${maxBytes} bytes.`;
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw new BodyError(413, tooLarge);
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) throw new BodyError(413, tooLarge);
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts, size).toString('utf8'));
  } catch {
    throw new BodyError(400, 'Parse error: the body is not JSON.');
  }
}
