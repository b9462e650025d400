import { redact } from '@call-attribution/core';
import { describe, expect, test } from 'vitest';
import { loadFailure } from '../src/file/duckdb.ts';

const notFound = (name: string): Error =>
  Object.assign(new Error(`Cannot find module '${name}'\nRequire stack:\n- a.js`), {
    code: 'MODULE_NOT_FOUND',
  });
const platform = `${process.platform}-${process.arch}`;
const version = expect.stringMatching(/@=\d+\.\d+\.\d+\S*$/);

describe('DuckDB that does not load is an error that says which package to install', () => {
  test.each([
    // In a project it is a package that npm installs on every platform.
    [
      '@duckdb/node-bindings-linux-x64/duckdb.node',
      true,
      'npm install --include=optional @duckdb/node-bindings@',
    ],
    ['@duckdb/node-bindings', true, 'npm install --include=optional @duckdb/node-bindings@'],
    [
      '@duckdb/node-bindings-linux-x64/duckdb.node',
      false,
      'npm install --global @duckdb/node-bindings-linux-x64@',
    ],
    ['@duckdb/node-bindings', false, 'npm install --global @duckdb/node-bindings@'],
  ])('without %s, in a project: %s', (name, inProject, command) => {
    const error = loadFailure(notFound(name), inProject);
    expect(error).toMatchObject({ name: 'WarehouseError', code: 'missing_package', hint: version });
    expect(error?.message).toContain(
      `DuckDB needs the package ${name.replace('/duckdb.node', '')}, which is not`,
    );
    expect(error?.hint).toContain(`: ${command}`);
    expect(redact(error?.message ?? '')).toBe(error?.message);
  });

  test.each([
    [
      Object.assign(new Error('libstdc++.so.6: no such file'), { code: 'ERR_DLOPEN_FAILED' }),
      `DuckDB's binary for ${platform} does not load: libstdc++.so.6: no such file`,
    ],
    [
      new Error("Error loading duckdb native binding: unsupported arch 'ppc64' for platform 'linux'"),
      `DuckDB has no binary for ${platform}.`,
    ],
  ])('%s', (cause, message) => {
    expect(loadFailure(cause)).toMatchObject({ code: 'missing_package', message, cause });
  });

  test('without the package of DuckDB itself, the error is that of Node.js', () => {
    expect(loadFailure(notFound('@duckdb/node-api'))).toBeNull();
  });
});
