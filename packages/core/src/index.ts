// Client for the call-attribution API: checked records, auth, retries, paging, SMS numbers.
export {};
