import { expectTypeOf, test } from 'vitest';
import { checkOption, defineOptions, type OptionsOf, option, type ReadOf } from '../src/options/index.ts';

const deadlines = defineOptions({ idle: option.timeout().default(5), total: option.timeout() });
interface DeadlineOptions extends OptionsOf<typeof deadlines> {}
interface Deadlines extends ReadOf<typeof deadlines> {}

const copyOptions = <T>() =>
  defineOptions({
    on: option.callback<(item: T) => string>().required(),
    rows: option.whole(1).default(250),
    mode: option.oneOf('fast', 'exact'),
    window: option.only(false).or(option.table<DeadlineOptions, Deadlines>(deadlines)),
  });
interface CopyOptions<T> extends OptionsOf<typeof copyOptions<T>> {}

test('the type of options follows from their table: what is required, what may be left out, and the type of an item', () => {
  expectTypeOf<CopyOptions<Date>>().branded.toEqualTypeOf<{
    on: (item: Date) => string;
    rows?: number | undefined;
    mode?: 'fast' | 'exact' | undefined;
    window?: false | DeadlineOptions | undefined;
  }>();
  expectTypeOf<ReadOf<typeof copyOptions<Date>>>().branded.toEqualTypeOf<{
    readonly on: (item: Date) => string;
    readonly rows: number;
    readonly mode?: 'fast' | 'exact' | undefined;
    readonly window?: false | Deadlines | undefined;
  }>();
  expectTypeOf<Deadlines>().branded.toEqualTypeOf<{
    readonly idle: number;
    readonly total?: number | undefined;
  }>();
});

test('a generic function infers its type from a callback among its options', () => {
  const copy = <T>(options: CopyOptions<T>): T[] => [copyOptions<T>().read(options)].map(() => null as T);
  expectTypeOf(() => copy({ on: (item: Date) => item.toISOString() })).returns.toEqualTypeOf<Date[]>();
  // @ts-expect-error: a required option is missing
  expectTypeOf(() => copy({ rows: 5 })).toBeFunction();
  // @ts-expect-error: a default is of the type of its option
  expectTypeOf(() => option.whole(1).default('5')).toBeFunction();
});

test('a value that was checked has the type of its option', () => {
  const read = (value: unknown): string => {
    checkOption('sid', option.string(), value);
    return value;
  };
  expectTypeOf(read).returns.toBeString();
});
