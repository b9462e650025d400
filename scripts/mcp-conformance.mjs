// Holds the MCP server to the protocol with the conformance suite of its makers: all of it on a server
// that has everything the suite asks for, behind our transports, and what any server must pass on
// the real one. Drills ask it with clients that hosts are built on. Needs the built packages.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { fetched } from './fetched.mjs';
import { node22 } from './nodes.mjs';
import { startSandboxProcess, startServer } from './sandbox.mjs';
import { root } from './workspace.mjs';

/** What both servers print. */
const readyAt = /http:\S+\/mcp/;
const bin = join(root, 'packages/mcp-server/dist/bin.js');
const work = mkdtempSync(join(tmpdir(), 'mcp-conformance-'));
/** @type {string[]} */
const problems = [];

/** Scenarios of each revision that need no fixture. */
const anyServer = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'resources-list',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'tools-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'http-header-validation',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
  ],
};

/**
 * What of 2025-11-25 needs a session, which the server does not keep: to ask the client in the
 * middle of a call.
 */
const needSessions = [
  'server-sse-multiple-streams',
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
];

const suite = join(
  fetched('@modelcontextprotocol/conformance@0.2.0-alpha.12'),
  '@modelcontextprotocol/conformance/dist/index.js',
);
const execute = promisify(execFile);

/** Runs the suite. @param {string} what @param {string} url @param {readonly string[]} flags */
async function conform(what, url, flags) {
  const args = [suite, 'server', '--url', url, '-o', join(work, 'results'), ...flags];
  try {
    await execute(node22(), args, { timeout: 120_000, maxBuffer: 2 ** 26 });
    console.log(`ok     ${what}`);
  } catch (error) {
    const { stdout, stderr } = /** @type {{ stdout: string, stderr: string }} */ (error);
    console.log(`FAILED ${what}`);
    problems.push(`${what}\n${`${stdout}${stderr}`.slice(-3000)}`);
  }
}

/** Everything the suite asks for, behind our transports. */
async function fixture() {
  const file = join(work, 'everything.mjs');
  await build({
    entryPoints: [join(root, 'packages/mcp-server/test/everything/serve.ts')],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@call-attribution/source'],
    banner: {
      js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
    },
    logLevel: 'error',
  });
  const server = await startServer([file], readyAt);
  const expected = join(work, 'expected-failures.yml');
  writeFileSync(expected, ['server:', ...needSessions.map((name) => `  - ${name}`), ''].join('\n'));
  for (const revision of Object.keys(anyServer)) {
    const flags = ['--requirements', revision];
    if (revision === '2025-11-25') flags.push('--expected-failures', expected);
    const without =
      revision === '2025-11-25' ? `, ${needSessions.length} that need sessions excepted` : '';
    await conform(`all that ${revision} requires${without}`, server.said, flags);
  }

  await server.close();
}

/** The real server. @param {Record<string, string>} env */
async function real(env) {
  const server = await startServer([bin, '--http', '0'], readyAt, env);
  for (const [revision, scenarios] of Object.entries(anyServer)) {
    for (const scenario of scenarios) {
      const flags = ['--scenario', scenario, '--spec-version', revision, '--force'];
      await conform(`the server, ${revision}, ${scenario}`, server.said, flags);
    }
  }

  await server.close();
}

const sandbox = await startSandboxProcess();
try {
  // Side by side: most of the time is waiting for processes to start.
  await Promise.all([fixture(), real(sandbox.env)]);
} finally {
  await sandbox.close();
  rmSync(work, { recursive: true });
}
for (const problem of problems) console.error(`\n${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
