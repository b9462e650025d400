import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { FleetError, targetLocked } from '../errors.ts';
import type { PlannedJob } from '../job.ts';
import { type BucketClient, inForm, mayPass } from './bucket-client.ts';
import { type BucketReply, NoAnswer } from './bucket-http.ts';
import { type ConditionalPut, putWhen, textBody } from './bucket-put.ts';
import { otherJob } from './folder-start.ts';
import { markOf, markPath, readMark } from './mark.ts';

/** Where the self-test writes. */
const trialFolder = '_fleet/';

/** Makes sure, before anything is read, that a bucket can take the files of a job. */
export async function prepareBucket(client: BucketClient, { name: job }: PlannedJob): Promise<void> {
  if ((await client.get(markPath)) === null) {
    await checkEmpty(client);
    await testConditions(client);
    await putWhen(client, small(markPath, markOf(job), null));
  } else await testConditions(client);
  const owner = readMark((await client.get(markPath))?.body.toString('utf8') ?? '');
  if (owner !== job) throw otherJob(client.name, owner, job, 'prefix');
}

async function checkEmpty(client: BucketClient): Promise<void> {
  for await (const { key } of client.list('')) {
    if (key === '' || key.startsWith(trialFolder)) continue;
    // Somebody else began the job at this moment.
    if ((await client.head(markPath)) !== null) return;
    // The key is not named: it is not ours, and may say anything.
    throw new FleetError(
      'target_unfit',
      `${client.name} holds something else, and no fleet has written there. Use an empty prefix.`,
    );
  }
}

const small = (key: string, text: string, replaces: string | null): ConditionalPut => ({
  ...{ key, replaces },
  body: textBody(text),
  mark: randomUUID(),
  type: 'application/json',
});

/** Signs of life that a lock may miss before it counts as left behind. */
const mostMissed = 2.5;

/**
 * Keeps a second process out. The lock is written anew all the time: one that does not change was left behind, so that no two clocks are
 * compared.
 */
export async function lockBucket(
  client: BucketClient,
  job: string,
  beatMs: number,
): Promise<() => Promise<void>> {
  const key = `${trialFolder}lock`;
  const text = () => JSON.stringify({ job, host: hostname(), pid: process.pid, nonce: randomUUID() });
  const locked = () => targetLocked(`the job ${job} in ${client.name}`);
  const before = await client.head(key);
  if (before !== null) await setTimeout(beatMs * mostMissed);
  const now = before === null ? null : await client.head(key);
  if (now?.etag !== before?.etag && now !== null) throw locked();
  let own = await putWhen(client, small(key, text(), now?.etag ?? null));
  if (own === null) throw locked();
  let beating: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    beating = beating.then(async () => {
      if (own !== null) own = await putWhen(client, small(key, text(), own)).catch(() => own);
    });
  }, beatMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await beating;
    if (own !== null) await client.remove(key);
  };
}

/**
 * Tries whether the server obeys the conditions that keep two workers apart. Some servers and proxies drop them silently; then
 * the later of two writers would win, whoever it is.
 */
export async function testConditions(client: BucketClient): Promise<void> {
  const key = `${trialFolder}${randomUUID()}`;
  const unfit = (what: string) =>
    new FleetError('target_unfit', `The server of ${client.name} cannot keep two workers apart: ${what}.`, {
      hint: 'Use a later release of the server or reach it without the proxy in between, or use a folder or PostgreSQL.',
    });
  const refuses = async (headers: Readonly<Record<string, string>>, what: string) => {
    const answer = await tried(client, key, headers);
    if (answer.status === 412) return;
    if (answer.status < 300) throw unfit(`it ${what} (${answer.status} instead of 412)`);
    throw client.refusal(answer);
  };
  const write = (replaces: string | null) =>
    putWhen(client, small(key, JSON.stringify({ trial: randomUUID() }), replaces));
  try {
    const first = await write(null);
    if (first === null) throw unfit('it would not create a new object (If-None-Match: *)');
    if ((await client.head(key))?.etag !== first)
      throw unfit('an object that was just written is not there, or has another ETag than its response said');
    await refuses(
      { 'if-none-match': '*' },
      'replaced an object that was only to be created (If-None-Match: *)',
    );
    let second = await write(first);
    if (second === null) {
      // Ceph compares what was sent with the etag without its quotes.
      client.etagForm = 'plain';
      second = await write(first);
    }
    if (second === null) throw unfit('it would not replace an object that was the right one (If-Match)');
    await refuses(
      { 'if-match': inForm(wrongEtag, client.etagForm) },
      'replaced an object although it was another one (If-Match)',
    );
    if (second === first) throw unfit('an object that was replaced still has its old ETag');
    for await (const { etag } of client.list(key)) if (etag === second) return;
    throw unfit('a list of keys does not have an object that was just written, or not with its ETag');
  } finally {
    await client.remove(key);
  }
}

const wrongEtag = '"00000000000000000000000000000000"';

/** The response to a PUT that is expected to do nothing, so that it may be sent as often as needed. */
async function tried(
  client: BucketClient,
  key: string,
  headers: Readonly<Record<string, string>>,
): Promise<BucketReply> {
  for (let number = 1; ; number += 1) {
    let failure: BucketReply | NoAnswer;
    try {
      const answer = await client.attempt({ method: 'PUT', key, headers, body: textBody('{}') });
      if (answer.status !== 409 && !mayPass(answer)) return answer;
      failure = answer;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      failure = error;
    }
    await client.pause(number, failure);
  }
}
