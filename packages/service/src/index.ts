// The call-attribution API itself, as a sandbox with made-up data and as a mirror of your own records.
export {};
