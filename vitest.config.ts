import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Tests run on TypeScript sources: no build is needed, and an edit in one package is seen by all
// others at once.
const conditions = ['@call-attribution/source'];

// Tests talk to servers on loopback; a proxy of the machine is not meant for them.
for (const name of ['HTTP_PROXY', 'HTTPS_PROXY']) {
  delete process.env[name];
  delete process.env[name.toLowerCase()];
}

const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
};

// Generous, since no test is about time: a busy machine must not turn a right result into a
// failure.
const patience = {
  testTimeout: 1_800_000,
  hookTimeout: 1_800_000,
  expect: { poll: { timeout: 600_000 } },
};

const unit = {
  ...shared,
  test: {
    ...patience,
    name: 'unit',
    // Test files share a process, and with it the modules it has loaded: half the time of loading
    // them for each file. A test puts back what it changes (environment, working directory,
    // globals).
    isolate: false,
    include: [
      'packages/*/test/**/*.test.ts',
      'conformance/test/**/*.test.ts',
      'scripts/test/**/*.test.mjs',
    ],
  },
};

const types = {
  ...shared,
  test: {
    name: 'types',
    include: [],
    typecheck: {
      enabled: true,
      only: true,
      include: ['packages/*/test/**/*.test-d.ts'],
      tsconfig: './tsconfig.json',
    },
  },
};

// Long laws, kills over and over, a browser, terminals, programs that run, and days that pass. They
// run only when named: `pnpm drills`, or `vitest run --project drills <file>`. CALLS_DRILLS is
// `usual` or `long`; scripts/drills.mjs sets it, and the drills read it with `rounds` of
// test-tools.
const length = process.env.CALLS_DRILLS ?? 'usual';
const drills = {
  ...shared,
  test: {
    ...patience,
    name: 'drills',
    include: ['packages/*/test/drills/**/*.drill.ts'],
    env: { CALLS_DRILLS: length, CALLS_LAW_RUNS: length === 'long' ? '80' : '8' },
  },
};
const drillsAreNamed = process.argv.some((argument) => argument.includes('drill'));

export default defineConfig({
  ...shared,
  test: {
    // One more than there are cores, since tests also wait for processes and timers. Vitest itself
    // would leave a core idle.
    maxWorkers: availableParallelism() + 1,
    // What a package starts once for all its test files: see scripts/global-setup.ts.
    globalSetup: ['./scripts/global-setup.ts'],
    projects: drillsAreNamed ? [unit, types, drills] : [unit, types],
  },
});
