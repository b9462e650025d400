import { defineConfig } from 'vitest/config';

// Tests run on TypeScript sources: no build is needed, and an edit in one package is seen by all others at once.
const conditions = ['@call-attribution/source'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Generous, since no test is about time: a slow machine must not turn a right answer into a failure.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      reporter: ['text-summary'],
      include: ['packages/*/src/**'],
      exclude: ['**/bin.ts'],
      thresholds: { lines: 80 },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            'packages/*/test/**/*.test.ts',
            'conformance/test/**/*.test.ts',
            'scripts/test/**/*.test.mjs',
          ],
        },
      },
      {
        extends: true,
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
      },
    ],
  },
});
