import { createHash, randomUUID } from 'node:crypto';
import type { RetryPolicy } from '@call-attribution/core';
import { type SentResponse, sendRequest } from '@call-attribution/core/http';
import type { Environment } from '@call-attribution/core/settings';
import { AwsClient } from 'aws4fetch';
import { claimLost, FleetError } from '../errors.ts';
import { turnIntoMonths } from './months.ts';
import type { Target } from './target.ts';

/**
 * A bucket of an S3-compatible server as a target: an object for each month of an account, put on
 * condition of the one before.
 */
export function openBucketTarget(into: string, env: Environment): Target {
  const bucket = openBucket(into, env);
  const close = async (): Promise<void> => bucket.close();
  return {
    name: bucket.name,
    async prepare() {
      await testConditions(bucket);
      return async () => {};
    },
    async turn(work) {
      // Whoever writes an object after this is first.
      const objects = new Map<string, BucketObject>();
      for await (const object of bucket.list(`account=${work.account.id}/`))
        objects.set(object.name, object);
      const files = {
        list: async () => [...objects.values()],
        read: async (name: string) => (await bucket.get(name))?.toString('utf8') ?? null,
        async put(name: string, bytes: AsyncIterable<Uint8Array>) {
          const chunks: Uint8Array[] = [];
          for await (const chunk of bytes) chunks.push(chunk);
          const body = Buffer.concat(chunks);
          const etag = await bucket.put(name, body, objects.get(name)?.etag ?? null);
          if (etag === null) throw claimLost();
          objects.set(name, { name, etag, size: body.length });
        },
      };
      return turnIntoMonths(files, work);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** An object below the prefix. */
export interface BucketObject {
  readonly name: string;
  /** With its quotes. */
  readonly etag: string;
  readonly size: number;
}

/** The requests to a bucket. Names are relative to the prefix. */
export interface Bucket {
  /** The bucket with its prefix. */
  readonly name: string;
  /** All objects whose names begin so. */
  list(begin: string): AsyncIterable<BucketObject>;
  /** The bytes of an object; null when there is none. */
  get(name: string): Promise<Buffer | null>;
  /**
   * Writes an object in the place of the one with this etag, or, with null, where there is none.
   * Resolves with its etag, or with null when somebody else was first.
   */
  put(name: string, body: Buffer, replaces: string | null): Promise<string | null>;
  /** Removes an object. It does not matter whether that works. */
  remove(name: string): Promise<void>;
  /** Ends what is under way. */
  close(): void;
}

interface Request {
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

/** A request without any of it. */
const plain: Request = { query: {}, headers: {}, body: null };

type Reply = SentResponse;

const usualRetry: RetryPolicy = { attempts: 7, baseDelay: 300, maxDelay: 10_000 };

/** Milliseconds that one attempt may take. */
const patience = 300_000;

/**
 * Opens a bucket. It connects with the first request.
 *
 * @throws {FleetError} `unfit_place` when the address is not one, `credential_missing` when there are no keys.
 */
export function openBucket(into: string, env: Environment, retry = usualRetry): Bucket {
  const address = addressOf(into, env);
  const { name, endpoint, prefix } = address;
  const closed = new AbortController();
  const ask = senderOf(address, retry, closed.signal);
  const refusal = (reply: Reply): FleetError => refusalOf(address, reply);
  return {
    name,
    async *list(begin) {
      let token: string | null = null;
      do {
        const query = { 'list-type': '2', 'encoding-type': 'url', prefix: prefix + begin };
        const reply: Reply = await ask('GET', null, {
          ...plain,
          query: token === null ? query : { ...query, 'continuation-token': token },
        });
        if (reply.status !== 200) throw refusal(reply);
        const page = readListing(reply.body.toString('utf8'));
        if (page === null)
          throw new FleetError(
            'unfit_place',
            `${endpoint.host} sent no list of the keys of ${name}.`,
            {
              hint: 'Use a server that knows the requests of S3.',
            },
          );
        for (const object of page.objects)
          if (object.name.startsWith(prefix + begin))
            yield { ...object, name: object.name.slice(prefix.length) };
        token = page.next;
      } while (token !== null);
    },
    async get(key) {
      const reply = await ask('GET', key, plain);
      if (reply.status === 200) return reply.body;
      if (isGone(reply)) return null;
      throw refusal(reply);
    },
    async put(key, body, replaces) {
      const mark = randomUUID();
      const headers = {
        ...(replaces === null ? { 'if-none-match': '*' } : { 'if-match': replaces }),
        'content-type': key.endsWith('.json') ? 'application/json' : 'application/octet-stream',
        'x-amz-meta-claim': mark,
      };
      const reply = await ask('PUT', key, { ...plain, headers, body });
      if (reply.status >= 200 && reply.status < 300) return etagOf(reply, name);
      if (reply.status !== 412 && !isGone(reply)) throw refusal(reply);

      // An earlier attempt may have been done although its answer was lost.
      const there = await ask('HEAD', key, plain);
      return there.headers['x-amz-meta-claim'] === mark ? etagOf(there, name) : null;
    },
    async remove(key) {
      await ask('DELETE', key, plain).catch(() => {});
    },
    close: () => closed.abort(new Error('the target was closed')),
  };
}

type Address = ReturnType<typeof addressOf>;

/** Sends requests, each until there is an answer that would be the same again. */
function senderOf(address: Address, retry: RetryPolicy, closed: AbortSignal) {
  const { name, endpoint, bucket, prefix, ...keys } = address;
  const aws = new AwsClient({ ...keys, service: 's3', retries: 0 });
  return async (
    method: string,
    key: string | null,
    { query, headers, body }: Request,
  ): Promise<Reply> => {
    const url = new URL(endpoint);
    const path = key === null ? [bucket] : [bucket, ...`${prefix}${key}`.split('/')];
    url.pathname = path.map(encodeURIComponent).join('/');
    url.search = Object.entries(query)
      .map((pair) => pair.map(encodeURIComponent).join('='))
      .join('&');
    const hash = createHash('sha256').update(body ?? '');
    const signed = { ...headers, 'x-amz-content-sha256': hash.digest('hex') };
    const sent = await sendRequest(
      url,
      { method, body },
      {
        retry,
        mayPass,
        deadline: patience,
        most: Number.POSITIVE_INFINITY,
        signal: closed,
        // A signature holds for some minutes only.
        async sign() {
          const request = await aws.sign(url.href, { method, headers: signed });
          return Object.fromEntries(request.headers);
        },
      },
    );
    const { response, reason } = sent;
    if (response === null)
      throw new FleetError(
        'target_unavailable',
        `${endpoint.host} does not answer requests for ${name} (${reason}).`,
        { hint: 'Check the network, and AWS_ENDPOINT_URL when it is not the server of AWS.' },
      );
    if (mayPass(response)) throw refusalOf(address, response);
    return response;
  };
}

/**
 * The error for an answer that was not expected. Sentences of the server are not repeated: they may
 * quote keys.
 */
function refusalOf({ name, endpoint: { host } }: Address, reply: Reply): FleetError {
  const { status, headers } = reply;
  const code = codeIn(reply);
  const said = code === null ? `${status}` : `${status} ${code}`;
  const error = (of: 'target_unavailable' | 'unfit_place', what: string, hint: string) =>
    new FleetError(of, `${host} ${what}.`, { hint });
  if (mayPass(reply))
    return error(
      'target_unavailable',
      `could not do what ${name} needs (${said})`,
      'It will be tried again.',
    );

  if (code === 'NoSuchBucket')
    return error('unfit_place', `has no bucket for ${name}`, 'Create it, or correct the name.');
  if ((status >= 300 && status < 400) || code === 'AuthorizationHeaderMalformed') {
    const region = headers['x-amz-bucket-region'] ?? '';
    return error(
      'unfit_place',
      `does not have ${name} in this region (${said})`,
      `Set AWS_REGION${/^[\w-]{1,40}$/.test(region) ? `=${region}` : ' to the region of the bucket'}.`,
    );
  }

  if (status === 401 || status === 403 || /Token|AccessKey|Signature/.test(code ?? ''))
    return error(
      'target_unavailable',
      `refused the keys for ${name} (${said})`,
      'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and that they may list the bucket, and get and put its objects.',
    );

  return error(
    'unfit_place',
    `refused a request for ${name} (${said})`,
    'Use a server that knows the requests of S3, or another target.',
  );
}

const isGone = (reply: Reply): boolean => reply.status === 404 && codeIn(reply) !== 'NoSuchBucket';

/**
 * Answers to the same request that may be different later: the server is busy or failed, two wrote
 * at the same time, the body did not arrive as it was, or the request was signed long before, as
 * happens when a process is stopped in between.
 */
const mayPass = (reply: Reply): boolean =>
  (reply.status >= 500 && reply.status !== 501) ||
  [408, 409, 429].includes(reply.status) ||
  /^(?:RequestTimeTooSkewed|RequestTimeout|IncompleteBody|BadDigest|XAmzContentSHA256Mismatch)$/.test(
    codeIn(reply) ?? '',
  );

/** The stable name of an error of S3, when there is one. */
const codeIn = ({ status, body }: Reply): string | null =>
  status < 300
    ? null
    : (/<Code>([A-Za-z.]{1,64})<\/Code>/.exec(body.toString('latin1'))?.[1] ?? null);

const quoted = (etag: string): string => `"${etag.replace(/^W\/|"/g, '')}"`;

/** The etag of an answer. Without one there are no conditions. */
function etagOf({ headers }: Reply, name: string): string {
  const { etag } = headers;
  if (etag) return quoted(etag);
  throw new FleetError('unfit_place', `The server of ${name} sends no ETag with an object.`, {
    hint: 'Use a server that does, or another target.',
  });
}

/**
 * Tries whether the server obeys the conditions that keep two workers apart. Some servers and
 * proxies drop them silently; then the later of two writers would win, whoever it is.
 */
export async function testConditions(bucket: Bucket): Promise<void> {
  const key = `_fleet/${randomUUID()}`;

  const unfit = (what: string) =>
    new FleetError(
      'unfit_place',
      `The server of ${bucket.name} cannot keep two workers apart: ${what}.`,
      {
        hint: 'Use a later release of the server or reach it without the proxy in between, or use a folder or PostgreSQL.',
      },
    );

  const write = (replaces: string | null) => bucket.put(key, Buffer.from(randomUUID()), replaces);
  try {
    const first = await write(null);
    if (first === null) throw unfit('it would not create a new object (If-None-Match: *)');
    if ((await write(null)) !== null)
      throw unfit('it replaced an object that was only to be created (If-None-Match: *)');
    const second = await write(first);
    if (second === null)
      throw unfit('it would not replace an object that was the right one (If-Match)');
    if (second === first) throw unfit('an object that was replaced still has its old ETag');
    if ((await write(first)) !== null)
      throw unfit('it replaced an object although it was another one (If-Match)');
    for await (const { etag } of bucket.list(key)) if (etag === second) return;
    throw unfit(
      'a list of keys does not have an object that was just written, or not with its ETag',
    );
  } finally {
    await bucket.remove(key);
  }
}

/**
 * Reads the XML of `ListObjectsV2`, whose elements have neither attributes nor depth. Null when it
 * is not such a list, or is cut. Names are asked for in the encoding of URLs; servers that do not
 * know that send them as they are.
 */
function readListing(xml: string): { objects: BucketObject[]; next: string | null } | null {
  if (!/<ListBucketResult[\s>]/.test(xml) || !xml.trimEnd().endsWith('</ListBucketResult>'))
    return null;
  const isEncoded = textIn(xml, 'EncodingType') === 'url';
  const objects: BucketObject[] = [];
  for (const [, inner = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
    const key = textIn(inner, 'Key');
    const etag = textIn(inner, 'ETag');
    const size = textIn(inner, 'Size');
    if (key === null || etag === null || !/^\d+$/.test(size ?? '')) return null;
    const name = isEncoded ? decodeURIComponent(key.replaceAll('+', ' ')) : key;
    objects.push({ name, etag: quoted(etag), size: Number(size) });
  }

  if (textIn(xml, 'IsTruncated') !== 'true') return { objects, next: null };
  const next = textIn(xml, 'NextContinuationToken');
  return next ? { objects, next } : null;
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#34': '"',
  '#39': "'",
  '#38': '&',
  '#60': '<',
  '#62': '>',
};

function textIn(xml: string, name: string): string | null {
  const [, text] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(xml) ?? [];
  return text?.replace(/&([#\w]+);/g, (whole, entity: string) => entities[entity] ?? whole) ?? null;
}

/**
 * Reads `s3://bucket/prefix`, and the server and the keys from the variables that other programs
 * use for S3, too.
 */
function addressOf(into: string, env: Environment) {
  const [, bucket, rest = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/s.exec(into) ?? [];

  // The text itself is not repeated: somebody may have written a key into it.
  if (bucket === undefined)
    throw new FleetError('unfit_place', 'This address of a bucket cannot be used.', {
      hint: 'Write it as s3://bucket or s3://bucket/prefix. Names of buckets have 3 to 63 small letters, digits, dots and hyphens.',
    });

  const folders = rest.split('/').filter((part) => part !== '');
  if (folders.some((part) => part === '.' || part === '..' || /[\p{Cc}?#]/u.test(part)))
    throw new FleetError('unfit_place', `The prefix of s3://${bucket} cannot be used.`, {
      hint: 'Folders of a prefix may not be . or .., and may not have ?, # or control characters.',
    });

  const name = ['s3:/', bucket, ...folders].join('/');
  const named = (variable: string): string | null => env[variable]?.trim() || null;
  const accessKeyId = named('AWS_ACCESS_KEY_ID');
  const secretAccessKey = named('AWS_SECRET_ACCESS_KEY');
  if (accessKeyId === null || secretAccessKey === null)
    throw new FleetError('credential_missing', `There are no keys for ${name}.`, {
      hint: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. For another server than that of AWS, also set AWS_ENDPOINT_URL.',
    });

  const region = named('AWS_REGION') ?? named('AWS_DEFAULT_REGION') ?? 'us-east-1';
  const url = named('AWS_ENDPOINT_URL_S3') ?? named('AWS_ENDPOINT_URL');
  const server = url ?? `https://s3.${region}.amazonaws.com`;
  const endpoint = URL.canParse(server) ? new URL(server) : null;
  if (endpoint === null || !/^https?:\/\/[^/@?#]+\/$/.test(endpoint.href))
    throw new FleetError('unfit_place', 'AWS_ENDPOINT_URL is not the address of a server.', {
      hint: 'Write it as https://host or https://host:port, without a path or a user name.',
    });

  const sessionToken = named('AWS_SESSION_TOKEN');
  return {
    name,
    endpoint,
    region,
    accessKeyId,
    secretAccessKey,
    bucket,
    prefix: folders.map((part) => `${part}/`).join(''),
    ...(sessionToken === null ? {} : { sessionToken }),
  };
}
