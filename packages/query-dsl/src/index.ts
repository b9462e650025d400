// Parse, print, build, explain and run the range filter language of the call-attribution API.
export {};
