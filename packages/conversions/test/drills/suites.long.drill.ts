import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { callWith } from '@call-attribution/test-tools/call-with';
import { openDrill } from '@call-attribution/test-tools/drill';
import { expect, onTestFinished, test } from 'vitest';
import { fetched } from '../../../../scripts/fetched.mjs';
import { changesToSend, conversions } from '../../src/index.ts';
import {
  createDataManager,
  dataManagerAccepts,
  findGoogleCredentials,
  pushConversions,
} from '../../src/push/index.ts';
import { startGoogleStub } from '../push/google-stub.ts';

openDrill({
  name: 'hashes',
  kind: 'whole programs',
  what: 'The hash of a number that goes to Google is the one that the builder of Segment makes of it, for spellings of numbers of every country',
  countTests: true,
});

/** The code of Segment's destination for Google, of which a part is required. */
interface Builder {
  formatPhone(number: string, countryCode: string, features: Record<string, boolean>): string;
  readonly FLAGON_NAME_PHONE_VALIDATION_CHECK: string;
}

interface Hashing {
  processHashing(
    text: string,
    method: 'sha256',
    digest: 'hex',
    clean: (text: string) => string,
  ): string;
}

interface PhoneUtil {
  getSupportedRegions(): string[];
  getExampleNumber(region: string): unknown;
  format(number: unknown, form: number): string;
}

/**
 * Segment's package without what it needs for its other destinations: one version of that is not to
 * be had, and the rest are 100 MB.
 */
function segment() {
  const name = '@segment/action-destinations';
  const modules = fetched(
    '@segment/actions-core@3.170.0',
    'ajv-formats@2.1.1',
    'google-libphonenumber@3.2.47',
    'liquidjs@10.25.7',
  );
  const folder = join(modules, name);
  if (!existsSync(folder)) {
    const pack = ['pack', '--silent', `${name}@3.497.0`];
    const tarball = execFileSync('npm', pack, { cwd: modules, encoding: 'utf8' }).trim();
    execFileSync('tar', ['xzf', tarball], { cwd: modules });
    execFileSync('mv', ['package', folder], { cwd: modules });
  }

  const load = createRequire(join(folder, 'dist/'));
  const { PhoneNumberUtil, PhoneNumberFormat } = load('google-libphonenumber');
  return {
    builder: load('./destinations/google-enhanced-conversions/functions.js') as Builder,
    hashing: load('./lib/hashing-utils.js') as Hashing,
    phones: PhoneNumberUtil.getInstance() as PhoneUtil,
    international: PhoneNumberFormat.INTERNATIONAL as number,
  };
}

const { builder, hashing, phones, international } = segment();

/** The hash that Segment would send. */
const hashOfSegment = (number: string): string =>
  hashing.processHashing(number, 'sha256', 'hex', (text) =>
    builder.formatPhone(text, '+1', { [builder.FLAGON_NAME_PHONE_VALIDATION_CHECK]: true }),
  );

/** The hashes that go to Google, by the number that a call had. */
async function hashesSent(numbers: readonly string[]): Promise<Map<string, string>> {
  const stub = await startGoogleStub();
  onTestFinished(() => stub.close());
  const now = Date.UTC(2026, 10, 21);
  const key = {
    type: 'authorized_user',
    client_id: 'client-1',
    client_secret: 'client-secret-1',
    refresh_token: 'refresh-1',
  };
  const file = join(mkdtempSync(join(tmpdir(), 'suites-')), 'key.json');
  onTestFinished(() => rmSync(dirname(file), { recursive: true }));
  writeFileSync(file, JSON.stringify({ ...key, token_uri: `${stub.url}/token` }));
  const target = createDataManager({
    credentials: await findGoogleCredentials({ GOOGLE_APPLICATION_CREDENTIALS: file }),
    destination: { account: '123-456-7890', conversionAction: '987654321' },
    endpoint: stub.url,
  });
  const calls = numbers.map((ani, at) =>
    callWith({ sid: String(at), ani, talk_minutes: '4.0', ppc_gclid: null, first_touch: null }),
  );
  const rules = {
    timeZone: 'America/New_York',
    conversionName: '',
    now,
    consent: { adUserData: 'granted', adPersonalization: 'denied' },
  } as const;
  const tool = { accepts: dataManagerAccepts({ phone: true }) };
  const changes = await changesToSend(conversions(calls, rules, tool));
  await pushConversions(target, changes, { clock: { now: () => now } });
  const events = stub.taken.flatMap((request) => request.events);
  return new Map(
    events.map(({ transactionId, userData }) => [
      numbers[Number(transactionId)] ?? '',
      userData?.userIdentifiers[0]?.phoneNumber ?? '',
    ]),
  );
}

test('a number of every country has the hash that Segment makes', async () => {
  const regions = phones.getSupportedRegions();
  const numbers = regions.flatMap((region) => {
    const example = phones.getExampleNumber(region);
    return example ? [phones.format(example, international)] : [];
  });
  const sent = await hashesSent(numbers);
  expect(sent.size).toBeGreaterThan(200);
  for (const [number, hash] of sent)
    expect([number, hash]).toEqual([number, hashOfSegment(number)]);
});

test('spellings of one number have one hash, which is that of Segment', async () => {
  const spellings = [
    '2025550101',
    '12025550101',
    '+12025550101',
    '(202) 555-0101',
    '202.555.0101',
    '+1 202-555-0101',
  ];
  const sent = await hashesSent(spellings);
  expect([...sent]).toEqual(spellings.map((number) => [number, hashOfSegment(number)]));
  expect(new Set(sent.values()).size).toBe(1);
});
