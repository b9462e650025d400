import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { ResponseError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import { tooLarge } from './transport.ts';

type Unpack = {
  now(body: Buffer, limit: number): Buffer;
  later(body: Buffer, limit: number): Promise<Buffer>;
};

const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip);
const inflate = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.inflate);
const brotli = promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress);

const codings: Readonly<Record<string, Unpack>> = {
  gzip: {
    now: (body, maxOutputLength) => zlib.gunzipSync(body, { maxOutputLength }),
    later: (body, maxOutputLength) => gunzip(body, { maxOutputLength }),
  },
  deflate: {
    now: (body, maxOutputLength) => zlib.inflateSync(body, { maxOutputLength }),
    later: (body, maxOutputLength) => inflate(body, { maxOutputLength }),
  },
  br: {
    now: (body, maxOutputLength) => zlib.brotliDecompressSync(body, { maxOutputLength }),
    later: (body, maxOutputLength) => brotli(body, { maxOutputLength }),
  },
};

/** Below this size, handing the work to a thread costs more than the work itself. */
const smallBody = 65_536;

/** Undoes the content encodings of a body, within the size limit. */
export async function decodeBody(body: Buffer, encoding: string, maxBodyBytes: number): Promise<Buffer> {
  let plain = body;
  const names = encoding.split(',').map((name) => name.trim().toLowerCase().replace(/^x-/, ''));
  for (const name of names.reverse()) {
    if (name === '' || name === 'identity') continue;
    const coding = Object.hasOwn(codings, name) ? codings[name] : undefined;
    if (!coding) throw new ResponseError('bad_encoding', messages.encodingUnknown());
    try {
      plain =
        plain.length < smallBody ? coding.now(plain, maxBodyBytes) : await coding.later(plain, maxBodyBytes);
    } catch (error) {
      if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBodyBytes);
      throw new ResponseError('bad_encoding', messages.encodingBroken(name), { isRetryable: true });
    }
  }
  return plain;
}
