import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { Exchange, Reply } from './exchange.ts';

const worthwhile = 1_024;
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const whole = {
  gzip: (body: Buffer) => promisify(gzip)(body, { level: 5 }),
  br: (body: Buffer) => promisify(brotliCompress)(body, brotli),
};
const streamed = { gzip: () => createGzip({ level: 5 }), br: () => createBrotliCompress(brotli) };

type Encoding = keyof typeof whole;

/** Sends a reply: compressed when the client accepts it, without a body for HEAD, and as fast as the client reads. */
export async function send(response: ServerResponse, exchange: Exchange, reply: Reply): Promise<void> {
  const { status, headers } = reply;
  const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body;
  if (compressible(headers)) headers.vary = 'Accept-Encoding';
  const encoding = encodingFor(exchange, headers, body);
  if (encoding !== null) headers['content-encoding'] = encoding;

  if (body === null || Buffer.isBuffer(body)) {
    const bytes =
      encoding !== null && body !== null ? await whole[encoding](body) : (body ?? Buffer.alloc(0));
    headers['content-length'] = String(bytes.length);
    response.writeHead(status, headers).end(exchange.method === 'HEAD' ? undefined : bytes);
    return;
  }
  response.writeHead(status, headers);
  if (exchange.method === 'HEAD') {
    response.end();
    return;
  }
  const source = Readable.from(body, { objectMode: false });
  if (encoding === null) await pipeline(source, response);
  else await pipeline(source, streamed[encoding](), response);
}

function compressible(headers: Readonly<Record<string, string>>): boolean {
  return (
    /json|xml|text|javascript|svg/.test(headers['content-type'] ?? '') &&
    headers['content-encoding'] === undefined
  );
}

function encodingFor(
  exchange: Exchange,
  headers: Readonly<Record<string, string>>,
  body: Reply['body'],
): Encoding | null {
  if (!compressible(headers) || body === null) return null;
  if (Buffer.isBuffer(body) && body.length < worthwhile) return null;
  return acceptedEncoding(exchange.request.headers['accept-encoding']);
}

/** The encoding that the client prefers: br when it accepts br and gzip equally, null for none. */
function acceptedEncoding(header: string | string[] | undefined): Encoding | null {
  let best: { name: Encoding; weight: number } | null = null;
  for (const part of String(header ?? '').split(',')) {
    const [name = '', ...rest] = part.trim().toLowerCase().split(';');
    const weight = Number(/^\s*q=([\d.]+)/.exec(rest.join(';'))?.[1] ?? 1);
    const encoding = name.trim() === 'br' ? 'br' : ['gzip', 'x-gzip'].includes(name.trim()) ? 'gzip' : null;
    if (encoding === null || !(weight > 0)) continue;
    if (best === null || weight > best.weight || (weight === best.weight && encoding === 'br'))
      best = { name: encoding, weight };
  }
  return best?.name ?? null;
}
