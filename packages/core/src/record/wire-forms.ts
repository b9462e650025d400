// The forms of values that are sent as strings.

const isOf =
  (form: RegExp) =>
  (value: unknown): boolean =>
    typeof value === 'string' && form.test(value);

/** A whole number as a string: `7`, `-7`. */
export const isIntegerString: (value: unknown) => boolean = isOf(/^-?\d+$/);

/** A decimal number as a string: `7`, `7.5`, `-0.1`. Without exponent and plus sign. */
export const isDecimalString: (value: unknown) => boolean = isOf(/^-?\d+(?:\.\d+)?$/);

/** `YYYY-MM-DD HH:MM:SS` by its shape; `readCall` checks that the day exists. */
export const isDateTime: (value: unknown) => boolean = isOf(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);

/** `YYYY-MM-DD HH:MM:SS.S` by its shape. */
export const isDateTimeTenths: (value: unknown) => boolean = isOf(
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d$/,
);
