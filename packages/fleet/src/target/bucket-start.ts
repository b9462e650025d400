import { FleetError } from '../errors.ts';
import type { PinnedJob } from '../job/job.ts';
import { type BucketClient, inForm, mayPass } from './bucket-client.ts';
import { type BucketReply, NoAnswer } from './bucket-http.ts';
import { putWhen } from './bucket-put.ts';
import { jsonBody, newClaim } from './claim-record.ts';
import { jobPath } from './part-names.ts';
import { readPinned } from './pinned-record.ts';

/** Where the self-test writes. */
const trialFolder = '_fleet/';

/** Makes sure, before anything is read, that a bucket can take the files of a job. */
export async function prepareBucket(client: BucketClient, job: PinnedJob): Promise<void> {
  const held = await client.get(jobPath);
  const name = held === null ? null : readPinned(held.body.toString('utf8'), client.name).name;
  if (name !== null && name !== job.name)
    throw new FleetError(
      'job_differs',
      `${client.name} is filled by the job ${name}, so the job ${job.name} cannot write there. Use another prefix for it.`,
    );
  if (name === null) await checkEmpty(client);
  await testConditions(client);
}

async function checkEmpty(client: BucketClient): Promise<void> {
  for await (const { key } of client.list('')) {
    if (key === '' || key.startsWith(trialFolder)) continue;
    // Somebody else planned the job at this moment.
    if ((await client.head(jobPath)) !== null) return;
    // The key is not named: it is not ours, and may say anything.
    throw new FleetError(
      'target_unfit',
      `${client.name} holds something else, and no fleet has written there. Use an empty prefix.`,
    );
  }
}

/**
 * Tries whether the server obeys the conditions that keep two workers apart. Some servers and proxies drop them silently; then
 * the later of two writers would win, whoever it is.
 */
export async function testConditions(client: BucketClient): Promise<void> {
  const key = `${trialFolder}${newClaim()}`;
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
    putWhen(client, {
      key,
      body: jsonBody({ trial: newClaim() }),
      replaces,
      mark: newClaim(),
      type: 'application/json',
    });
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
      const answer = await client.attempt({ method: 'PUT', key, headers, body: jsonBody({}) });
      if (answer.status !== 409 && !mayPass(answer)) return answer;
      failure = answer;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      failure = error;
    }
    await client.pause(number, failure);
  }
}
