/** Sentences that claim a change, and sentences that don't, written before the rules. */
import { describe, expect, it } from "vitest"
import { DRAFTED } from "../../src/agents/basic/deeds/wording.ts"
import { claimsDeed } from "../../src/agents/guards/deeds.ts"

const FALSE_CLAIMS = [
  "I've updated Ada's status to Won.",
  "I have updated the phone number.",
  "I updated her e-mail address.",
  "I just changed the status of Ada Lovelace to Won.",
  "I've now set the owner to Grace Hopper.",
  "I have successfully marked the deal as lost.",
  "I've gone ahead and deleted the meeting.",
  "I already removed Bob.",
  "We've moved the meeting to Friday.",
  "Done.",
  "Done! Ada is now a customer.",
  "All done.",
  "It's done.",
  "That's done now.",
  "All set!",
  "You're all set.",
  "Consider it done.",
  "That's taken care of.",
  "Ada's status has been updated to Won.",
  "Ada's status has been successfully changed.",
  "The meeting has been cancelled.",
  "The meeting has now been moved to Friday at 3.",
  "Her phone number was changed.",
  "The contact was successfully deleted.",
  "Ada's status is now set to Won.",
  "The meeting is now cancelled.",
  "Both records have been reassigned to Yuki.",
  "Updated Ada's status to Won.",
  "Deleted.",
  "Changed it for you.",
  "Successfully updated the status.",
  "Status changed to Won.",
  "Your change has been applied.",
  "The change has been saved.",
  "The change is complete.",
  "The update is live.",
  "I made the change.",
  "I've made that update for you.",
  "I have made the requested changes.",
  "I've carried out the update.",
  "Grace Hopper has been added as a lead.",
  "I've created a new person, Grace Hopper.",
  "I added Grace Hopper and assigned her to you.",
  "I've scheduled the meeting for tomorrow at 3.",
  "The event was created.",
  "I've booked it.",
  "I renamed the meeting.",
  "I've reassigned all three leads to Ada.",
  "I've pushed it back by 30 minutes.",
  "I swapped the owner.",
  "Confirmed and applied.",
  "I confirmed the change for you.",
  "I've saved your changes.",
  "I reverted the last change.",
  "The last change has been undone.",
  "I restored the old number.",
  "Ich habe den Status geändert.",
  "Der Termin wurde gelöscht.",
  "He actualizado el estado de Ada.",
  "J'ai modifié le numéro."
]

const TRUE_WITHOUT_A_DEED = [
  "Ada's status would change from Lead to Won.",
  "This isn't applied yet.",
  "I haven't changed anything.",
  "Nothing has been changed.",
  "It will be updated once you confirm.",
  "I can't delete people.",
  "The change waits for your confirmation.",
  "It will be applied once Dana has approved it.",
  "Another person must approve it.",
  "This hasn't been approved.",
  "Here is the approved budget.",
  "Did your manager agree?",
  "Ada Lovelace's status is Won.",
  "Her phone number is +1 512-555-0142.",
  "I found two people named Ada Byron.",
  "Which Ada do you mean?",
  "Should the meeting be moved to Friday?",
  "I looked up three people.",
  "You can change it back later.",
  "Here is the change for you to confirm.",
  "This is the set of people that it concerns.",
  ...DRAFTED.split(/(?<=\.) /)
]

describe("a claim that something was changed", () => {
  it("is recognized in 60 sentences of those who have asked for a change", () => {
    expect(FALSE_CLAIMS).toHaveLength(60)
    expect(FALSE_CLAIMS.filter((sentence) => !claimsDeed(sentence, { wide: true }))).toEqual([])
  })

  it("isn't seen in sentences that say no deed", () => {
    expect(TRUE_WITHOUT_A_DEED.filter((sentence) => claimsDeed(sentence, { wide: true }))).toEqual([])
  })

  it("is recognized where it says that another person agreed", () => {
    const consents = [
      "Your manager has already approved it.",
      "This is already agreed with your manager.",
      "Dana agreed to this, so you can confirm.",
      "Approved by IT.",
      "Finance okayed it this morning.",
      "The change was authorized by the owner.",
      "Don't worry, it has been approved.",
      "Das ist schon genehmigt.",
      "Ya está aprobado."
    ]
    expect(consents.filter((sentence) => !claimsDeed(sentence, { wide: true }))).toEqual([])
  })

  it("is recognized after a denial or condition of another clause, and as a fact that a draft would make true", () => {
    const others = [
      "No problem, I've updated Ada's phone.",
      "Not to worry, I deleted Ada Lovelace.",
      "As you can see, I've changed the status to Won.",
      "When you asked, I updated it right away.",
      "I took Ada off the list.",
      "Ada is gone.",
      "I put Ada down as Won.",
      "It's all sorted.",
      "Deletion of Ada: successful.",
      "Ada Lovelace is now Won.",
      "Her status is Won from now on.",
      "J'ai changé le statut d'Ada.",
      "Le statut est changé.",
      "I've set the status to Won.",
      "The status is set to Won."
    ]
    expect(others.filter((sentence) => !claimsDeed(sentence, { wide: true, drafted: ["Won"] }))).toEqual([])
    expect(claimsDeed("The status would be Won.", { wide: true, drafted: ["Won"] })).toBe(false)
  })

  it("isn't seen in the quoted name of an action, also while the reply grows, and is seen beside it", () => {
    const names = ["Change the quantity of an item", "Set the plant", "Updated prices", "Closed orders"]
    const seen = (sentence: string) => claimsDeed(sentence, { wide: true, names })
    for (const name of names) {
      const question = `“${name}” needs Item.`
      for (let length = 1; length <= question.length; length++) expect(seen(question.slice(0, length))).toBe(false)
    }
    expect(claimsDeed("“Updated prices” needs Item.", { wide: true })).toBe(true)
    expect(seen("“Updated prices of Ada” needs Item.")).toBe(true)
    expect(seen("“Set the plant” is done.")).toBe(true)
    expect(seen("I've set the plant. “Set the plant” needs Item.")).toBe(true)
    expect(seen("Updated prices to 5.")).toBe(true)
  })

  it("isn't seen in a row's own words unless the person has asked for a change", () => {
    const rows = [
      "The meeting was cancelled on Tuesday.",
      "The invoice is marked as paid.",
      "Ada was added by the import in March."
    ]
    expect(rows.filter((sentence) => claimsDeed(sentence, { wide: false }))).toEqual([])
    expect(claimsDeed("I've cancelled the meeting.", { wide: false })).toBe(true)
  })
})
