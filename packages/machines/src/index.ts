// The public door of @lastcall/machines.

export {};
