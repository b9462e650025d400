// Lets a script import the TypeScript sources of the packages in Node.js 20, without a build:
// `await importSource(file)`.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import { scope } from './workspace.mjs';

let isRegistered = false;

/** @param {string} file @returns {Promise<Record<string, unknown>>} */
export async function importSource(file) {
  if (!isRegistered) register(import.meta.url);
  isRegistered = true;
  return import(pathToFileURL(file).href);
}

// The hooks run in a thread of their own, which loads this file again.

/** @type {import('node:module').ResolveHook} */
export const resolve = (specifier, context, next) =>
  next(specifier, { ...context, conditions: [`${scope}source`, ...context.conditions] });

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const { code } = await transform(await readFile(fileURLToPath(url), 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'node20',
  });
  return { format: 'module', source: code, shortCircuit: true };
}
