// What tests of several packages share: databases to test on, a browser, and sources bundled for
// plain Node.
export { builtFile } from './bundle.ts';
export { findChromium, launch } from './chromium.ts';
export { type TestStore, testStores } from './stores.ts';
