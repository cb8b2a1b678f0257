/** Defences of identity providers that administrators add, and of signing in at one. */

const secrets = "test/channels/http/clientSecrets.test.ts"
const added = "test/channels/http/newProviders.test.ts"
const addresses = "test/channels/http/providerAddresses.test.ts"
const signIn = "test/web/providerSignIn.test.ts"
const service = "src/services/access/IdentityProviders.ts"
const page = "src/services/administration/Providers.ts"
const browser = "src/services/access/ProviderSignIn.ts"
const routes = "src/channels/http/providerSignIn.ts"

export const providers = [
  {
    name: "An identity provider at an address inside the network, which an administrator gave (SSRF, our own review)",
    test: [addresses, "is no private, loopback or link-local address, in any notation"],
    defence: "guardedFetch.ts: the host of each request is public, or the operator lists it",
    removed: "the comparison",
    patches: [
      ["src/services/network/guardedFetch.ts", "if (hostProblem(url, hosts) !== undefined) throw unreachable()", ""]
    ]
  },
  {
    name: "An identity provider whose name leads inside the network (SSRF, our own review)",
    test: [addresses, "is no name that leads to one, alone or among public ones"],
    defence: "exchanged.ts: each connection uses the addresses that were checked",
    removed: "the check",
    patches: [["src/services/network/exchanged.ts", "guardedLookup(url, hosts)", "guardedLookup(url, [url.host])"]]
  },
  {
    name: "An identity provider that redirects into the network (SSRF, our own review)",
    test: [addresses, "says the same where a host answers and is no provider, answers too much, or redirects"],
    defence:
      "IdentityProviders.ts `fetchFor`: an administrator's provider is asked by `guardedFetch`, which follows nothing",
    removed: "the guard: `fetch` that follows",
    patches: [
      [
        service,
        "addedBy === undefined ? undefined : guardedFetch(",
        '((hosts) => (url, options) => fetch(url, { ...options, redirect: "follow" }))('
      ]
    ]
  },
  {
    name: "An identity provider that told an administrator what is inside the network (our own review)",
    test: [addresses, "is no private, loopback or link-local address, in any notation"],
    defence: "IdentityProviders.ts `described`: one text for forbidden, unreachable, and no provider",
    removed: "the one text",
    patches: [[service, "Effect.mapError(discovered, () => unreadable)", "discovered"]]
  },
  {
    name: "A public identity provider whose description led to a private host that the operator lists (SSRF, our own review)",
    test: [addresses, "leads to keys at no private address, at no name of one, at no other host that is listed"],
    defence: "IdentityProviders.ts `fetchFor`: a listed host counts for the issuer of that host",
    removed: "the choice of hosts",
    patches: [[service, "hosts.filter((host) => isListed(new URL(issuer), [host]))", "hosts"]]
  },
  {
    name: "DNS rebinding: an identity provider's keys whose name led inside the network later (our own review)",
    test: [addresses, "is asked for its keys under the same rules later, when its name leads elsewhere"],
    defence: "jwt.ts `keysOf`: each fetch of the keys is guarded, not the first one",
    removed: "the guard of later fetches",
    patches: [["src/services/access/jwt.ts", "...(ask === undefined ? {} : { [customFetch]: ask })", ""]]
  },
  {
    name: "An administrator's provider with the keys of an operator's, at an address that it may not ask (our own review)",
    test: [addresses, "has nothing of the keys that an operator's provider has at a private address"],
    defence: "jwt.ts `keysOf`: keys that were read under the guard are kept apart",
    removed: "the separation",
    patches: [
      [
        "src/services/access/jwt.ts",
        "ask === undefined ? provider.jwksUrl : ",
        "ask === undefined || keySets.has(provider.jwksUrl) ? provider.jwksUrl : "
      ]
    ]
  },
  {
    name: "An identity provider whose token endpoint was inside the network (SSRF, our own review)",
    test: [
      addresses,
      "leads the server to no private address when a person signs in, for its description or for the token"
    ],
    defence: "openIdClient.ts `configuredClient`: what a sign-in asks is guarded",
    removed: "the guard",
    patches: [
      ["src/services/access/openIdClient.ts", "...(ask === undefined ? {} : { [client.customFetch]: ask }),", ""]
    ]
  },
  {
    name: "An identity provider added without a token that it has signed (our own review)",
    test: [added, "needs a token that verifies in the same request, whatever was tried or the request says"],
    defence: "IdentityProviders.ts `add`: the token is verified in the request that adds the provider",
    removed: "the refusal",
    patches: [
      [
        service,
        'if (typeof proven === "string") return yield* providerProblem(',
        'if (typeof proven === "bigint") return yield* providerProblem('
      ]
    ]
  },
  {
    name: "An identity provider added by an administrator who lacks a power that it could give (our own review)",
    test: [added, "is tried and added only with every power"],
    defence: "Providers.ts `add`: adding a provider needs every power",
    removed: "the powers but one",
    patches: [
      [
        page,
        "current(administrator, Power.literals)\n          const { provider, token } = yield* newProviderOf(added)",
        'current(administrator, ["members"])\n          const { provider, token } = yield* newProviderOf(added)'
      ]
    ]
  },
  {
    name: "An identity provider tried at an address of choice by an administrator who may not add one (our own review)",
    test: [added, "is tried and added only with every power"],
    defence: "Providers.ts `tryNew`: trying a new provider needs every power",
    removed: "the powers but one",
    patches: [
      [
        page,
        "current(administrator, Power.literals)\n          const { provider, token } = yield* newProviderOf(tried)",
        'current(administrator, ["members"])\n          const { provider, token } = yield* newProviderOf(tried)'
      ]
    ]
  },
  {
    name: "An identity provider added with powers that were lost in between (our own review)",
    test: [added, "isn't added by an administrator who lost a power in between"],
    defence: "IdentityProviders.ts `add`: the epoch that admitted the administrator is held for the act",
    removed: "the comparison of epochs",
    patches: [
      [service, "lockEpochFor(app, organization, by?.administrator)", "lockEpochFor(app, organization, undefined)"]
    ]
  },
  {
    name: "A token of two audiences, admitted for one, after the other was trusted, too (our own review)",
    test: [added, "ends what a token of two audiences was admitted for, at once"],
    defence: "IdentityProviders.ts `add`: a new provider renews the epoch, as a removed one does",
    removed: "the new epoch",
    patches: [
      [
        service,
        "yield* raiseEpoch(app, organization.id, [{ actor,",
        'if (issuer === "") yield* raiseEpoch(app, organization.id, [{ actor,'
      ]
    ]
  },
  {
    name: "A provider for a second audience that its tokens have besides a trusted one (our own review)",
    test: [added, "isn't one that is trusted already, here or elsewhere, which only a signed token is told"],
    defence: "IdentityProviders.ts `examined`: a new provider's token names no other provider",
    removed: "the comparison",
    patches: [[service, "if (rows.length !== (isNew ? 0 : 1))", "if (!isNew && rows.length !== 1)"]]
  },
  {
    name: "An operator's file, named by an administrator as the secret of a client at an address of choice (our own review)",
    test: [
      added,
      "keeps the client's secret sealed, in no answer, table, trace or event, and forgets it when it is removed"
    ],
    defence: "Providers.ts `newProviderOf`: what an administrator pastes is a secret, never a reference",
    removed: "the distinction",
    patches: [[page, "{ clientSecret: Redacted.make(clientSecret) }", "{ clientSecret }"]]
  },
  {
    name: "Another person's answer of a provider, with a forged state (login CSRF, our own review)",
    test: [signIn, "counts in the browser that left, once, though the code is valid"],
    defence: "ProviderSignIn.ts: state, nonce and PKCE bind the answer to the browser that left",
    removed: "all three",
    patches: [
      [browser, "expectedState: state,", "expectedState: client.skipStateCheck,"],
      [browser, "expectedNonce: nonce,", ""],
      [browser, "pkceCodeVerifier: verifier,", ""],
      [browser, "nonce: kept.nonce,\n", "\n"],
      [browser, 'code_challenge: challenge,\n              code_challenge_method: "S256"', ""]
    ]
  },
  {
    name: "An open redirect after signing in at a provider (our own review)",
    test: [signIn, "counts in the browser that left, once, though the code is valid"],
    defence: "providerSignIn.ts: a person who is back is led to Max's own page, and to no address of the request",
    removed: "the fixed address",
    patches: [
      [
        routes,
        'HttpServerResponse.redirect("/", { status: 303 })',
        'HttpServerResponse.redirect(address.searchParams.get("returnTo") ?? "/", { status: 303 })'
      ]
    ]
  },
  {
    name: "A provider that was told to lead back to another host (our own review)",
    test: [signIn, "leads nowhere but to this server, whatever a link or a Host header asks for"],
    defence: "providerSignIn.ts `originOf`: the way back is at the public address",
    removed: "the public address",
    patches: [
      [routes, 'publicUrl ?? `http://${headers["host"]}`', '`http://${headers["x-forwarded-host"] ?? headers["host"]}`']
    ]
  },
  {
    name: "A client's secret that its provider refuses, which replaced one that worked (our own review)",
    test: [secrets, "stays as it is unless the provider says that it takes the new one"],
    defence: "IdentityProviders.ts `replaceSecret`: the provider is asked before the old secret is replaced",
    removed: "the trial",
    patches: [[service, "yield* tryClientSecret(provider, secret, fetchFor(provider), redirectUri)", ""]]
  },
  {
    name: "A client's secret that counted as taken on an answer that says nothing about it (our own review)",
    test: [secrets, "stays as it is unless the provider says that it takes the new one"],
    defence: "openIdClient.ts `tryClientSecret`: only `invalid_grant` says that the client was authenticated",
    removed: "the refusal of all other answers",
    patches: [["src/services/access/openIdClient.ts", "  return yield* unanswered\n", ""]]
  },
  {
    name: "A client's secret replaced by an administrator who may not add the provider (our own review)",
    test: [secrets, "is replaced only with every power, and the provider isn't asked without"],
    defence: "Providers.ts `replaceSecret`: replacing a secret needs every power",
    removed: "the powers but one",
    patches: [
      [
        page,
        "current(administrator, Power.literals)\n          yield* providers.replaceSecret",
        'current(administrator, ["members"])\n          yield* providers.replaceSecret'
      ]
    ]
  },
  {
    name: "A client's secret replaced with powers that were lost while the provider was asked (our own review)",
    test: [secrets, "isn't replaced by an administrator who lost a power while the provider was asked"],
    defence: "IdentityProviders.ts `replaceSecret`: the epoch that admitted the administrator is held for the act",
    removed: "the comparison of epochs",
    patches: [
      [
        service,
        "lockEpochFor(app, organization, administrator)\n              const rows = yield* app`UPDATE",
        "lockEpochFor(app, organization, undefined)\n              const rows = yield* app`UPDATE"
      ]
    ]
  },
  {
    name: "A client's secret kept for a provider that was removed while it was asked (our own review)",
    test: [secrets, "isn't stored for a provider that was removed while it was asked"],
    defence: "IdentityProviders.ts `replaceSecret`: the provider is there in the transaction that stores the secret",
    removed: "the comparison",
    patches: [
      [
        service,
        "if (rows.length === 0) return false\n              yield* reference",
        "if (rows.length > 1) return false\n              yield* reference"
      ]
    ]
  },
  {
    name: "A replaced client's secret that stayed in the database (our own review)",
    test: [
      secrets,
      "is replaced in place by one that the provider takes, sealed, recorded and told to no reader, and the old one is gone"
    ],
    defence: "Secrets.ts `put`: a new secret takes the place of the old one",
    removed: "the replacement",
    patches: [
      [
        "src/services/secrets/Secrets.ts",
        "version = excluded.version, sealed = excluded.sealed,",
        "version = excluded.version,"
      ]
    ]
  },
  {
    name: "A client's secret sent into the network, to where an administrator's provider leads (SSRF, our own review)",
    test: [addresses, "leads the server to no private address when a client's secret is tried"],
    defence: "openIdClient.ts `configuredClient`: what asks a provider is guarded",
    removed: "the guard",
    patches: [
      ["src/services/access/openIdClient.ts", "...(ask === undefined ? {} : { [client.customFetch]: ask }),", ""]
    ]
  }
]
