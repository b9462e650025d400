/** An account with its test keys, as the page of a sandbox shows it. */
export interface PageAccount {
  /** Id in the store. */
  readonly id: string;
  /** Name to show. */
  readonly name: string;
  /** The number of calls at the start. */
  readonly records: number;
  /** Access key of v3 and of the SMS listing. */
  readonly accessKey: string;
  /** Secret key that belongs to it. */
  readonly secretKey: string;
  /** Bearer token of v2. */
  readonly bearerToken: string;
}

/** What the page at `/` shows. */
export interface PageOptions {
  /** A sandbox shows its test keys, a mirror has input fields for keys. Default `mirror`. */
  readonly kind?: 'sandbox' | 'mirror' | undefined;
  /** Are new calls coming in? Default false. */
  readonly live?: boolean | undefined;
  /** The accounts of a sandbox. Default none. */
  readonly accounts?: readonly PageAccount[] | undefined;
  /**
   * The password of the page: with it, browsers ask for it (HTTP Basic, any user name), whoever has it sees all accounts, and keys do
   * not open the page any more. The API stays as it is. Default: the page asks for keys.
   */
  readonly password?: string | null | undefined;
  /** The time zone of the calls' times: words such as `yesterday` are about its days. Default: that of this machine, and the page says so. */
  readonly timeZone?: string | undefined;
  /** Folder of the built page. Default: the one in this package. */
  readonly assets?: string | undefined;
}
