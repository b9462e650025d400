// Measures that are counted value by value: exact, saved as plain JSON, merged in any parts and order. Aggregates, windows and
// questions count with these.

export { type Accumulator, MemoryLimit } from './accumulator.ts';
export { Distinct, type Plain } from './distinct.ts';
export { Largest, Smallest } from './extremes.ts';
export { NumberTable } from './number-table.ts';
export { Percentiles } from './percentiles.ts';
export { type SavedSum, Sum } from './sum.ts';
