import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { codeOf, ResponseError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import { tooLarge } from './transport.ts';

const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip);
const inflate = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.inflate);
const brotli = promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress);

const codings: ReadonlyMap<string, (body: Buffer, limit: { maxOutputLength: number }) => Promise<Buffer>> =
  new Map([
    ['gzip', gunzip],
    ['deflate', inflate],
    ['br', brotli],
  ]);

/** Undoes the content encodings of a body, within the size limit. */
export async function decodeBody(body: Buffer, encoding: string, maxBodyBytes: number): Promise<Buffer> {
  let plain = body;
  const names = encoding.split(',').map((name) => name.trim().toLowerCase().replace(/^x-/, ''));
  for (const name of names.reverse()) {
    if (name === '' || name === 'identity') continue;
    const decode = codings.get(name);
    if (!decode) throw new ResponseError('bad_encoding', messages.encodingUnknown());
    try {
      plain = await decode(plain, { maxOutputLength: maxBodyBytes });
    } catch (error) {
      if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBodyBytes);
      throw new ResponseError('bad_encoding', messages.encodingBroken(name), { isRetryable: true });
    }
  }
  return plain;
}
