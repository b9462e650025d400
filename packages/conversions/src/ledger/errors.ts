import { CallsError, type CodeTable, codeTable, nameErrors } from '@call-attribution/core/errors';

const deliveryErrors = codeTable({
  busy: { ledger_in_use: 'Another process has the ledger. Run again when that process has ended.' },
  usage: {
    in_the_way:
      'There is a file under the name of the sheet already, which may not have been uploaded. Upload it, or rename it.',
    other_machine: 'Another machine has begun a delivery and has its files. Finish it there.',
    unfinished: 'The ledger has an unfinished delivery to this destination. Commit or abandon it first.',
  },
});

/** Codes of `DeliveryError`. */
export type DeliveryErrorCode = keyof typeof deliveryErrors;

/** A sheet cannot be put in its place, or another process has the ledger. */
export class DeliveryError extends CallsError<DeliveryErrorCode> {
  static override readonly codes: CodeTable = deliveryErrors;
  static {
    nameErrors(DeliveryError, 'DeliveryError');
  }

  constructor(code: DeliveryErrorCode, what: string) {
    super(code, deliveryTexts[code](what));
  }
}

const deliveryTexts: Readonly<Record<DeliveryErrorCode, (what: string) => string>> = {
  ledger_in_use: (why) => why,
  in_the_way: (file) =>
    `${file} exists already. If it was uploaded, remove or rename it; otherwise upload it first.`,
  other_machine: (host) =>
    `The machine ${host} has an unfinished delivery. Finish it there, where its files are.`,
  unfinished: (destination) => `A delivery to ${destination} is not finished. Commit or abandon it first.`,
};

const ledgerDamagedErrors = codeTable({
  data: {
    ledger_damaged:
      'The ledger was changed by something else, or the disk has damaged it. Restore it from a copy: without it, conversions would be uploaded twice.',
    ledger_strange:
      'The file of the ledger is a link, a pipe or a file of another user, or names files that no delivery makes. Name the file itself, and one of your own.',
  },
});

/** Codes of `LedgerDamagedError`. */
export type LedgerDamagedErrorCode = keyof typeof ledgerDamagedErrors;

/** A ledger that cannot be read: it was changed by something else, or the disk has damaged it. */
export class LedgerDamagedError extends CallsError<LedgerDamagedErrorCode> {
  static override readonly codes: CodeTable = ledgerDamagedErrors;
  static {
    nameErrors(LedgerDamagedError, 'LedgerDamagedError');
  }

  constructor(code: LedgerDamagedErrorCode, what: string) {
    super(code, ledgerTexts[code](what));
  }
}

const ledgerTexts: Readonly<Record<LedgerDamagedErrorCode, (what: string) => string>> = {
  ledger_damaged: (where) =>
    `The ledger is damaged at ${where}. Restore it from a copy: without it, conversions would be uploaded twice.`,
  ledger_strange: (what) => `${what}. Nothing was read or written: name a ledger of your own.`,
};

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `DeliveryError` of conversions. */
    DeliveryError: DeliveryError;
    /** See `LedgerDamagedError` of conversions. */
    LedgerDamagedError: LedgerDamagedError;
  }
}
