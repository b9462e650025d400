import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a server can do to a request instead of answering it. */
export type Fault =
  /** The connection ends; nothing is done. */
  | 'cut'
  /** It is done, and then the connection ends. */
  | 'lose'
  /** It is done, and the response is this. */
  | { readonly after: number }
  /** The connection ends, and it is done so many milliseconds later. */
  | { readonly late: number }
  /** Nothing is done, and the response is this. */
  | { readonly status: number; readonly code?: string; readonly headers?: Record<string, string> };

/** One object. */
export interface StoredObject {
  readonly body: Buffer;
  readonly etag: string;
  readonly meta: Readonly<Record<string, string>>;
}

/** A request as the server got it. */
export interface SeenRequest {
  readonly method: string;
  /** Key, or an empty text for a list. */
  readonly key: string;
  readonly headers: IncomingMessage['headers'];
}

/** What kind of server it is. All may be changed while it runs. */
export interface BucketBehavior {
  /** Conditions it does not know. */
  ignores: ('if-none-match' | 'if-match')[];
  /** What it says that the etags are. */
  etags: 'md5' | 'none' | 'fixed';
  listsNothing: boolean;
  /** Called before each request is worked on. May wait, and may return a fault. */
  before: (request: SeenRequest) => Promise<Fault | undefined> | Fault | undefined;
}

export interface BucketServer {
  readonly url: string;
  readonly bucket: string;
  readonly objects: Map<string, StoredObject>;
  readonly requests: SeenRequest[];
  readonly behavior: BucketBehavior;
  /** What a client needs. */
  readonly env: Record<string, string>;
  /** Resolves once everything late was done. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const accessKey = 'AKIDEXAMPLE';
const secretKey = 'a/secret+key=of the test';
const region = 'eu-north-3';

/**
 * A server like S3 for one bucket, on loopback. It checks signatures, hashes and conditions, and
 * can be made to do what others do.
 */
export async function startBucketServer(
  given: Partial<BucketBehavior> = {},
): Promise<BucketServer> {
  const objects = new Map<string, StoredObject>();
  const requests: SeenRequest[] = [];
  const late = new Set<Promise<void>>();
  const bucket = 'calls-of-agency';
  const behavior: BucketBehavior = {
    ignores: [],
    etags: 'md5',
    listsNothing: false,
    before: () => undefined,
    ...given,
  };

  const work = (request: IncomingMessage, body: Buffer, key: string): Reply => {
    const denied = refusal(request, body);
    if (denied !== null) return denied;
    const { headers, method, url = '' } = request;
    if (!decodeURIComponent(url.split('?')[0] ?? '').startsWith(`/${bucket}`))
      return fail(404, 'NoSuchBucket');
    const there = objects.get(key);
    switch (method) {
      case 'PUT':
        return put(objects, behavior, key, there, headers, body);
      case 'DELETE':
        objects.delete(key);
        return { status: 204 };
      default:
        if (key === '') return list(objects, behavior, new URL(url, 'http://x').searchParams);
        return there === undefined ? fail(404, 'NoSuchKey') : found(there, behavior);
    }
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const key = decodeURIComponent((request.url ?? '').split('?')[0] ?? '')
      .split('/')
      .slice(2)
      .join('/');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const seen = { method: request.method ?? '', key, headers: request.headers };
    requests.push(seen);
    const fault = await behavior.before(seen);
    if (fault === 'cut') return void request.socket.destroy();
    if (typeof fault === 'object' && 'late' in fault) {
      request.socket.destroy();
      const done = new Promise((resolve) => setTimeout(resolve, fault.late)).then(() => {
        work(request, Buffer.concat(chunks), key);
        late.delete(done);
      });
      return void late.add(done);
    }

    const isEarly = typeof fault === 'object' && 'status' in fault;
    const reply = isEarly
      ? { ...fail(fault.status, fault.code ?? 'Fault'), headers: fault.headers ?? {} }
      : work(request, Buffer.concat(chunks), key);
    if (fault === 'lose') return void request.socket.destroy();
    const {
      status,
      body = '',
      headers = {},
    } = typeof fault === 'object' && 'after' in fault ? fail(fault.after, 'InternalError') : reply;
    response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
    response.end(request.method === 'HEAD' ? undefined : body);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    bucket,
    objects,
    requests,
    behavior,
    env: {
      AWS_ACCESS_KEY_ID: accessKey,
      AWS_SECRET_ACCESS_KEY: secretKey,
      AWS_REGION: region,
      AWS_ENDPOINT_URL: url,
    },
    settled: async () => void (await Promise.all(late)),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string | number>;
  readonly body?: string | Buffer;
}

const fail = (status: number, code: string): Reply => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${secretKey}</Message></Error>`,
});

function put(
  objects: Map<string, StoredObject>,
  { ignores, etags }: BucketBehavior,
  key: string,
  there: StoredObject | undefined,
  headers: IncomingMessage['headers'],
  body: Buffer,
): Reply {
  if (headers['content-length'] === undefined) return fail(411, 'MissingContentLength');
  if (headers['if-none-match'] === '*' && there !== undefined && !ignores.includes('if-none-match'))
    return fail(412, 'PreconditionFailed');
  const match = headers['if-match'];
  if (match !== undefined && !ignores.includes('if-match')) {
    if (there === undefined) return fail(404, 'NoSuchKey');
    if (there.etag !== match) return fail(412, 'PreconditionFailed');
  }

  const etag =
    etags === 'fixed' ? '"always-the-same"' : `"${createHash('md5').update(body).digest('hex')}"`;
  const meta = Object.fromEntries(
    Object.entries(headers).filter((pair): pair is [string, string] =>
      pair[0].startsWith('x-amz-meta-'),
    ),
  );
  objects.set(key, { body, etag, meta });
  return { status: 200, headers: etags === 'none' ? {} : { etag } };
}

function found({ body, etag, meta }: StoredObject, { etags }: BucketBehavior): Reply {
  const headers = { ...meta, 'content-length': body.length, ...(etags === 'none' ? {} : { etag }) };
  return { status: 200, headers, body };
}

/** Keys in a page of a list: so few that most lists have several. */
const pageSize = 5;

function list(
  objects: ReadonlyMap<string, StoredObject>,
  { listsNothing }: BucketBehavior,
  query: URLSearchParams,
): Reply {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? '';
  const keys = (listsNothing ? [] : [...objects.keys()])
    .filter((key) => key.startsWith(prefix) && key > after)
    .sort();
  const page = keys.slice(0, pageSize);
  const written = (key: string) => encodeURIComponent(key).replaceAll('%20', '+');
  const contents = page.map((key) => {
    const { etag, body } = objects.get(key) as StoredObject;
    return `<Contents><Key>${written(key)}</Key><ETag>${etag.replaceAll('"', '&quot;')}</ETag><Size>${body.length}</Size></Contents>`;
  });
  const more = keys.length > page.length;
  const body = [
    '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
    '<EncodingType>url</EncodingType>',
    `<IsTruncated>${more}</IsTruncated>`,
    more
      ? `<NextContinuationToken>${page.at(-1)?.replaceAll('&', '&amp;')}</NextContinuationToken>`
      : '',
    ...contents,
    '</ListBucketResult>',
  ].join('');
  return { status: 200, body };
}

/** Why a request is not from the owner of the keys, worked out from what arrived alone. */
function refusal(request: IncomingMessage, body: Buffer): Reply | null {
  const { headers, method, url = '' } = request;
  const sent =
    /Credential=([^/]+)\/(\d{8}\/[^/]+\/s3\/aws4_request), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
      headers.authorization ?? '',
    );
  if (sent === null) return fail(403, 'AccessDenied');
  const [, id, scope = '', names = '', signature] = sent;
  if (id !== accessKey) return fail(403, 'InvalidAccessKeyId');
  if (scope.split('/')[1] !== region)
    return {
      ...fail(400, 'AuthorizationHeaderMalformed'),
      headers: { 'x-amz-bucket-region': region },
    };

  const date = String(headers['x-amz-date']);
  const time = Date.parse(date.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
  if (Math.abs(Date.now() - time) > 900_000) return fail(403, 'RequestTimeTooSkewed');
  const hash = createHash('sha256').update(body).digest('hex');
  if (headers['x-amz-content-sha256'] !== hash) return fail(400, 'XAmzContentSHA256Mismatch');
  const must = Object.keys(headers).filter((name) => /^(?:host|x-amz-.*|if-.*)$/.test(name));
  if (must.some((name) => !names.split(';').includes(name))) return fail(403, 'AccessDenied');
  const [path = '', search = ''] = url.split('?');
  const canonical = [
    method,
    path,
    search.split('&').sort().join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    hash,
  ].join('\n');
  const hmac = (key: string | Buffer, text: string) =>
    createHmac('sha256', key).update(text).digest();
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secretKey}`);
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`;
  return hmac(key, text).toString('hex') === signature ? null : fail(403, 'SignatureDoesNotMatch');
}
