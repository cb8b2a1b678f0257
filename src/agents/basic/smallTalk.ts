/** The rules of small talk: greetings, thanks, and questions about Max. */
import type { Rule } from "./buildIntent.ts"
import { Intent } from "./Intent.ts"

export const SMALL_TALK: ReadonlyArray<Rule> = [
  [
    [
      "(hi|hello|hey|howdy|greetings|yo|hiya|good morning|good afternoon|good evening|good day) (there|max|everyone|all|again)?"
    ],
    () => Intent.Greeting()
  ],
  [
    [
      "(thanks|thank you|thx|cheers|ta|many thanks|great|perfect|awesome|cool|nice|ok|okay|got it|wonderful|excellent) (so much|a lot|very much|max|thanks|thank you|again)?",
      "(ok|okay|great|perfect) (thanks|thank you) (max|so much|a lot)?",
      "(that|this) is (all|great|perfect|it) (thanks|thank you)?"
    ],
    () => Intent.Thanks()
  ],
  [["(bye|goodbye|good night|see you|see you later|that is all) (max)?"], () => Intent.Bye()],
  [
    [
      "help (me)?",
      "what can (you|max) (do|tell me|look up|answer)",
      "(what can i|how can i|what should i) (ask|say|use this) (you)?",
      "how does this work",
      "what do you (do|know)",
      "(who|what) are you",
      "are you (a|an) {rest}"
    ],
    () => Intent.Help()
  ]
]
