// The public door of @lastcall/gateway.

export {};
