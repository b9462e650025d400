// Measures that are counted value by value: exact, saved as plain JSON, merged in any parts and order. Aggregates, windows and
// questions count with these.

export { type Accumulator, MemoryLimit } from './accumulator.ts';
export { Distinct, type Plain } from './distinct.ts';
export { type Extreme, Largest, Smallest } from './extremes.ts';
export { Percentiles } from './percentiles.ts';
export { type SavedSum, Sum } from './sum.ts';
