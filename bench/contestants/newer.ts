/** Polyfills for built-ins that contestants need and Node 20 lacks. */
export const NEWER = `
Object.groupBy ??= (items, key) => { const all = Object.create(null); let i = 0; for (const one of items) (all[key(one, i++)] ??= []).push(one); return all };
Map.groupBy ??= (items, key) => { const all = new Map(); let i = 0; for (const one of items) { const k = key(one, i++); all.set(k, [...(all.get(k) ?? []), one]) } return all };
Promise.withResolvers ??= function () { let resolve, reject; const promise = new Promise((a, b) => { resolve = a; reject = b }); return { promise, resolve, reject } };
`

/** Installs the polyfills in this process. */
export const beNewer = (): void => {
  new Function(NEWER)()
}
