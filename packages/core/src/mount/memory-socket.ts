import { Duplex } from 'node:stream';

/** The head of a response, and its body. */
export interface Head {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array>;
}

const endOfHead = Buffer.from('\r\n\r\n');
/** Headers of the connection, which is somebody else's. */
const ofConnection = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/**
 * The socket of a response in memory. It takes what Node.js writes to a connection, reads the head and passes the body on; a write
 * is done when the reader of the body has taken it.
 */
export class MemorySocket extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly encrypted: boolean;
  readonly #begin: (head: Head) => void;
  readonly #fail: (error: unknown) => void;
  #head: Buffer | null = Buffer.alloc(0);
  #body: ReadableStreamDefaultController<Uint8Array> | null = null;
  #resume: (() => void) | null = null;
  #isFinished = false;
  #taken = 0;

  constructor(
    client: { readonly address: string | undefined; readonly isSecure: boolean },
    begin: (head: Head) => void,
    fail: (error: unknown) => void,
  ) {
    super();
    this.remoteAddress = client.address;
    this.encrypted = client.isSecure;
    this.#begin = begin;
    this.#fail = fail;
    this.on('error', () => {});
    // What the server of Node.js does for its sockets.
    this.on('drain', () => this.emitDrain());
  }

  /** Bytes that were written, those that wait included, as sockets count them. */
  get bytesWritten(): number {
    return this.#taken + this.writableLength;
  }

  /** Set by `assignSocket` of Node.js. */
  declare _httpMessage: { emit(event: 'drain'): boolean } | null;

  private emitDrain(): void {
    this._httpMessage?.emit('drain');
  }

  /** The response has been sent to its end. */
  finish(): void {
    if (this.destroyed) return;
    this.#isFinished = true;
    this.#body?.close();
    this.destroy();
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    const done = (): void => {
      this.#taken += chunk.length;
      callback();
    };
    let bytes = chunk;
    if (this.#head !== null) {
      const head = Buffer.concat([this.#head, chunk]);
      const end = head.indexOf(endOfHead);
      if (end < 0) {
        this.#head = head;
        done();
        return;
      }
      this.#head = null;
      this.#open(head.toString('latin1', 0, end));
      bytes = head.subarray(end + endOfHead.length);
    }
    if (bytes.length > 0) this.#body?.enqueue(bytes);
    // A write is done when the reader wants more, or nobody reads.
    if (bytes.length === 0 || (this.#body?.desiredSize ?? 1) > 0) done();
    else this.#resume = done;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const reason = error ?? prematureClose();
    if (this.#head !== null) this.#fail(reason);
    else if (!this.#isFinished) this.#body?.error(reason);
    this.#body = null;
    this.#resume = null;
    callback(error);
  }

  /** Reads a head such as `HTTP/1.1 200 OK` and the headers after it. */
  #open(text: string): void {
    const [first = '', ...lines] = text.split('\r\n');
    const headers = new Headers();
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      if (!ofConnection.has(name)) headers.append(name, line.slice(colon + 1).trim());
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#body = controller;
      },
      pull: () => {
        const resume = this.#resume;
        this.#resume = null;
        resume?.();
      },
      cancel: () => {
        this.#body = null;
        this.destroy();
      },
    });
    this.#begin({ status: Number(first.split(' ')[1]), headers, body });
  }

  // What else is called on sockets.
  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  destroySoon(): void {
    this.destroy();
  }
}

/** What Node.js reports for a stream that ends early. Servers know the code, and do not log it as a failure. */
function prematureClose(): Error {
  const error = new Error('The connection was closed before the end of the response.');
  return Object.assign(error, { code: 'ERR_STREAM_PREMATURE_CLOSE' });
}
