import { createHash } from 'node:crypto';
import { type RetryPolicy, requestedDelay, retryDelay, sleep, systemClock } from '@call-attribution/core';
import { AwsV4Signer } from 'aws4fetch';
import { FleetError } from '../errors.ts';
import { type BucketAddress, bucketName } from './bucket-address.ts';
import { refusedBy, unansweredBy, unreadable } from './bucket-errors.ts';
import { type BucketBody, type BucketReply, NoAnswer, openSender, type Sender } from './bucket-http.ts';
import { type ListedObject, readListing } from './bucket-listing.ts';

/** Waits of a bucket client. Tests shorten them. */
export interface BucketWaits {
  /** When a request is sent again. */
  readonly retry: RetryPolicy;
  /** Time without a byte in either direction after which a connection is given up, in milliseconds. */
  readonly idleMs: number;
  /** Time between two signs of life of a lock, in milliseconds. */
  readonly beatMs: number;
}

export const bucketWaits: BucketWaits = {
  retry: { attempts: 7, baseDelay: 300, maxDelay: 10_000 },
  idleMs: 60_000,
  beatMs: 5_000,
};

/** What a server says about an object. */
export interface BucketObject {
  /** With its quotes. */
  readonly etag: string;
  /** Who wrote it: `x-amz-meta-claim`. */
  readonly claim: string | null;
}

/** A small object. */
export interface BucketText {
  readonly body: Buffer;
  readonly etag: string;
}

/** With its quotes, as HTTP has it, or without. */
export type EtagForm = 'quoted' | 'plain';

/** An etag as a condition. */
export const inForm = (etag: string, form: EtagForm): string =>
  form === 'quoted' ? etag : etag.replaceAll('"', '');

/** The requests to a bucket. Keys are relative to the prefix. */
export interface BucketClient {
  /** The bucket with its prefix. */
  readonly name: string;
  /** How the server wants the etag of a condition. The self-test finds it out. */
  etagForm: EtagForm;
  /** One attempt of a request with a key. Throws `NoAnswer` when it is not known what became of it. */
  attempt(request: BucketRequest): Promise<BucketReply>;
  /** Waits before attempt `number + 1`. Throws when there were enough. */
  pause(number: number, failure: BucketReply | NoAnswer): Promise<void>;
  /** The bytes of a small object; null when there is none. */
  get(key: string): Promise<BucketText | null>;
  /** Null when there is no such object. */
  head(key: string): Promise<BucketObject | null>;
  /** Gives the bytes of an object with their places; after a connection was cut again from the first. False when there is none. */
  download(key: string, take: (bytes: Uint8Array, at: number) => void): Promise<boolean>;
  /** All objects whose keys begin with `prefix`. */
  list(prefix: string): AsyncIterable<ListedObject>;
  /** Removes an object. It does not matter whether that works. */
  remove(key: string): Promise<void>;
  /** The error for a response that was not expected. */
  refusal(answer: BucketReply): FleetError;
  close(): void;
}

/** A request with a key, or with a query for the bucket itself. */
export interface BucketRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BucketBody;
  /** Takes the bytes of a response with status 200 instead of `body`. */
  readonly onBytes?: (bytes: Uint8Array) => void;
}

/** Responses to the same request that may be different later. */
export const mayPass = ({ status, headers, body }: BucketReply): boolean =>
  status >= 500
    ? status !== 501
    : status === 429 || status === 408 || isSkewed({ status, headers, body }) || isCut({ status, body });

/** The request was signed long before it arrived, as happens when a process was stopped in between: signed again it may pass. */
const isSkewed = ({ status, body }: BucketReply): boolean =>
  status === 403 && body.includes('<Code>RequestTimeTooSkewed</Code>');

/** S3 says with 400 that the body did not arrive in time, not whole, or not as it was. */
const isCut = ({ status, body }: Pick<BucketReply, 'status' | 'body'>): boolean =>
  status === 400 &&
  /<Code>(?:RequestTimeout|IncompleteBody|BadDigest|XAmzContentSHA256Mismatch)<\/Code>/.test(
    body.toString('latin1'),
  );

const emptySha256 = createHash('sha256').digest('hex');

/** Opens a client. It connects with its first request. */
export function openBucketClient(address: BucketAddress, waits: BucketWaits = bucketWaits): BucketClient {
  const requests = new BucketRequests(address, waits);
  const { name } = requests;
  return {
    name,
    etagForm: 'quoted',
    attempt: (request) => requests.attempt(request),
    pause: (number, failure) => requests.pause(number, failure),
    refusal: (answer) => requests.refusal(answer),
    async get(key) {
      const answer = await requests.ask({ method: 'GET', key });
      if (answer === null) return null;
      return {
        body: answer.body,
        etag: etagOf(answer, name),
      };
    },
    async head(key) {
      const answer = await requests.ask({ method: 'HEAD', key });
      const claim = answer?.headers['x-amz-meta-claim'];
      return answer && { etag: etagOf(answer, name), claim: typeof claim === 'string' ? claim : null };
    },
    async download(key, take) {
      let at = 0;
      const onBytes = (bytes: Uint8Array): void => {
        take(bytes, at);
        at += bytes.length;
      };
      const begin = (): void => {
        at = 0;
      };
      return (await requests.ask({ method: 'GET', key, onBytes }, begin)) !== null;
    },
    list: (within) => listOf(requests, within),
    async remove(key) {
      await requests.attempt({ method: 'DELETE', key }).catch(() => {});
    },
    close: () => requests.close(),
  };
}

/** Sends signed requests to a bucket, and again where that helps. */
class BucketRequests {
  readonly name: string;
  readonly address: BucketAddress;
  readonly #retry: RetryPolicy;
  readonly #sender: Sender;

  constructor(address: BucketAddress, waits: BucketWaits) {
    this.address = address;
    this.name = bucketName(address.bucket, address.prefix);
    this.#retry = waits.retry;
    this.#sender = openSender(address.endpoint, waits.idleMs);
  }

  attempt(request: BucketRequest): Promise<BucketReply> {
    const { method, body, onBytes } = request;
    return this.#signed(request).then(({ path, signed }) =>
      this.#sender.send({ method, path, headers: signed, body, onBytes }),
    );
  }

  /** The path of a request with its headers, which are signed with the SHA-256 of the body. */
  async #signed({ method, key, query = {}, headers = {}, body }: BucketRequest) {
    const { endpoint, region, bucket, prefix, keys } = this.address;
    const url = new URL(endpoint);
    const folders = key === undefined ? bucket : `${bucket}/${prefix}${key}`;
    url.pathname = `/${folders.split('/').map(encodeURIComponent).join('/')}`;
    url.search = Object.entries(query)
      .map((pair) => pair.map(encodeURIComponent).join('='))
      .join('&');
    const signer = new AwsV4Signer({
      ...{ method, region, service: 's3' },
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': body?.sha256 ?? emptySha256 },
      accessKeyId: keys.accessKeyId,
      secretAccessKey: keys.secretAccessKey,
      ...(keys.sessionToken === null ? {} : { sessionToken: keys.sessionToken }),
    });
    const request = await signer.sign();
    const signed = { ...Object.fromEntries(request.headers), host: endpoint.host };
    return { path: `${url.pathname}${url.search}`, signed };
  }

  refusal(answer: BucketReply): FleetError {
    return refusedBy(this.name, this.address.endpoint.host, answer);
  }

  async pause(number: number, failure: BucketReply | NoAnswer): Promise<void> {
    if (number >= this.#retry.attempts)
      throw failure instanceof NoAnswer
        ? unansweredBy(this.name, this.address.endpoint.host, failure)
        : this.refusal(failure);
    const requested = failure instanceof NoAnswer ? undefined : requestedDelay(failure.headers, Date.now());
    const wait = retryDelay(this.#retry, number, requested, Math.random);
    await sleep(systemClock, Math.min(wait, this.#retry.maxDelay * 3), this.#sender.closed);
  }

  /** For requests that change nothing, or may be repeated. */
  async ask(request: BucketRequest, begin: () => void = () => {}): Promise<BucketReply | null> {
    for (let number = 1; ; number += 1) {
      let failure: BucketReply | NoAnswer;
      begin();
      try {
        const answer = await this.attempt(request);
        if (answer.status === 200 || answer.status === 204) return answer;
        if (answer.status === 404 && !answer.body.includes('<Code>NoSuchBucket</Code>')) return null;
        if (!mayPass(answer)) throw this.refusal(answer);
        failure = answer;
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        failure = error;
      }
      await this.pause(number, failure);
    }
  }

  close(): void {
    this.#sender.close();
  }
}

async function* listOf(requests: BucketRequests, within: string): AsyncGenerator<ListedObject> {
  const { prefix, endpoint } = requests.address;
  let token: string | null = null;
  do {
    const query = { 'list-type': '2', 'encoding-type': 'url', prefix: prefix + within };
    const answer: BucketReply | null = await requests.ask({
      method: 'GET',
      query: token === null ? query : { ...query, 'continuation-token': token },
    });
    const page = answer && readListing(answer.body.toString('utf8'));
    if (page === null) throw unreadable(requests.name, endpoint.host, 'a list of its keys');
    for (const { key, etag, bytes } of page.objects)
      if (key.startsWith(prefix + within))
        yield { key: key.slice(prefix.length), etag: plainEtag(etag), bytes };
    token = page.next;
  } while (token !== null);
}

/** An etag with its quotes, which some servers leave out in lists. */
const plainEtag = (etag: string): string => `"${etag.replace(/^W\/|"/g, '')}"`;

/** The etag of a response. Without one there are no conditions. */
export function etagOf({ headers }: BucketReply, name: string): string {
  if (headers.etag) return plainEtag(headers.etag);
  throw new FleetError('target_unfit', `The server of ${name} sends no ETag with an object.`, {
    hint: 'Use a server that does, or another target.',
  });
}
