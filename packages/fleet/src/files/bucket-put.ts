import { createHash } from 'node:crypto';
import { type BucketClient, etagOf, inForm, mayPass } from './bucket-client.ts';
import { type BucketBody, type BucketReply, NoAnswer } from './bucket-http.ts';

/** A conditional write. */
export interface ConditionalPut {
  readonly key: string;
  readonly body: BucketBody;
  /** Etag of the object to be replaced; null: there must be no object. */
  readonly replaces: string | null;
  /** Different for each write there ever was. A write whose response was lost is found by it. */
  readonly mark: string;
  readonly type: string;
}

/**
 * Writes an object when the condition holds. Returns its etag, or null when somebody else was first or the object to be replaced is
 * gone. Throws when it stays unknown whether it was written.
 *
 * | response | meaning |
 * |---|---|
 * | 200 | written |
 * | 412 | HEAD: with our mark it was written by an earlier attempt whose response was lost; else somebody else was first |
 * | 409 | two at the same time: again |
 * | 404 | the object to be replaced is gone |
 * | 5xx, 429, none | HEAD: with our mark it was written; else again |
 */
export async function putWhen(client: BucketClient, put: ConditionalPut): Promise<string | null> {
  const { key, body, replaces, mark, type } = put;
  const headers = {
    ...(replaces === null ? { 'if-none-match': '*' } : { 'if-match': inForm(replaces, client.etagForm) }),
    'content-type': type,
    'x-amz-checksum-sha256': Buffer.from(body.sha256, 'hex').toString('base64'),
    'x-amz-meta-claim': mark,
    'x-amz-meta-sha256': body.sha256,
  };
  const written = async (): Promise<string | null> => {
    const there = await client.head(key);
    return there?.claim === mark ? there.etag : null;
  };
  for (let number = 1; ; number += 1) {
    let failure: BucketReply | NoAnswer;
    try {
      const answer = await client.attempt({ method: 'PUT', key, headers, body });
      const { status } = answer;
      if (status === 200 || status === 201 || status === 204)
        return answer.headers.etag ? etagOf(answer, client.name) : await written();
      if (status === 412) return await written();
      if (status === 404 && replaces !== null && !answer.body.includes('<Code>NoSuchBucket</Code>'))
        return null;
      if (status !== 409 && !mayPass(answer)) throw client.refusal(answer);
      failure = answer;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      failure = error;
    }
    const etag = failure instanceof NoAnswer || failure.status !== 409 ? await written() : null;
    if (etag !== null) return etag;
    await client.pause(number, failure);
  }
}

/** A small text as a body. */
export function textBody(text: string): BucketBody {
  const bytes = Buffer.from(text);
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex'), open: () => bytes };
}
