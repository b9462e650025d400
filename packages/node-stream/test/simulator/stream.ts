// What the law of requests reads with: also the entry of a reader with a mistake in it.
export { createCallStream } from '../../src/read.ts';
