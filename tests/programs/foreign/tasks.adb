--  Tasks, exceptions through several frames with finalization on the way, nested subprograms called through pointers (their
--  frame comes in a register), arrays of variable size, case statements. Runs long enough for many layouts.
with Ada.Text_IO; use Ada.Text_IO;
with Ada.Finalization;
with Ada.Exceptions; use Ada.Exceptions;

procedure Tasks is
   type Word is mod 2**64;

   Finalized : Natural := 0;
   Broken    : exception;

   type Guard is new Ada.Finalization.Limited_Controlled with null record;
   overriding procedure Finalize (G : in out Guard);
   overriding procedure Finalize (G : in out Guard) is
      pragma Unreferenced (G);
   begin
      Finalized := Finalized + 1;
   end Finalize;

   function Step (Op : Natural; X : Word) return Word;
   pragma No_Inline (Step);
   function Step (Op : Natural; X : Word) return Word is
   begin
      case Op is
         when 0 => return X + 3;
         when 1 => return X * 6364136223846793005;
         when 2 => return X xor 16#9e3779b97f4a7c15#;
         when 3 => return X / 2;
         when 4 => return not X;
         when 5 => return X - 2**40;
         when 6 => return X or 16#10101#;
         when 7 => return X * 31 + 7;
         when 8 => raise Broken with "op" & Natural'Image (Op);
         when others => return X + Word (Op);
      end case;
   end Step;

   function Descend (Depth, Fail_At : Natural) return Natural;
   pragma No_Inline (Descend);
   function Descend (Depth, Fail_At : Natural) return Natural is
      G     : Guard;
      Local : array (1 .. Depth + 1) of Natural := (others => Depth);
      pragma Unreferenced (G);
   begin
      if Depth = Fail_At then
         raise Broken with "at" & Natural'Image (Depth);
      end if;
      if Depth = 0 then
         return Local (1);
      end if;
      return Local (Depth) + Descend (Depth - 1, Fail_At);
   end Descend;

   type Visitor is access procedure (X : Word);
   procedure Each (Count : Natural; V : not null access procedure (X : Word));
   pragma No_Inline (Each);
   procedure Each (Count : Natural; V : not null access procedure (X : Word)) is
   begin
      for I in 1 .. Count loop
         V (Word (I));
      end loop;
   end Each;

   function Work (Rounds : Natural; Seed : Word) return Word is
      Sum : Word := Seed;
      procedure Add (X : Word) is
      begin
         Sum := Step (Natural (Sum mod 8), Sum + X);
      end Add;
   begin
      for Round in 1 .. Rounds loop
         Each (200, Add'Access);
         begin
            Sum := Sum + Word (Descend (15, Round mod 20));
         exception
            when E : Broken =>
               Sum := Sum * 3 + Word (Exception_Message (E)'Length);
         end;
      end loop;
      return Sum;
   end Work;

   task type Worker is
      entry Start (Seed : Word);
      entry Done (Sum : out Word);
   end Worker;
   task body Worker is
      Mine, Result : Word := 0;
   begin
      accept Start (Seed : Word) do
         Mine := Seed;
      end Start;
      for I in 1 .. 40 loop
         Result := Result * 5 + Work (4, Mine + Word (I));
      end loop;
      accept Done (Sum : out Word) do
         Sum := Result;
      end Done;
   end Worker;

   Plain : Word;
begin
   declare
      Workers : array (1 .. 3) of Worker;
      Sum     : Word;
   begin
      for I in Workers'Range loop
         Workers (I).Start (Word (I));
      end loop;
      for I in Workers'Range loop
         Workers (I).Done (Sum);
         Put_Line (Integer'Image (I) & Word'Image (Sum));
      end loop;
   end;
   Finalized := 0;
   Plain := 0;
   for I in 1 .. 60 loop
      Plain := Plain * 7 + Work (40, Word (I));
   end loop;
   Put_Line (Word'Image (Plain) & Natural'Image (Finalized));
   begin
      Plain := Step (8, Plain);
      Put_Line ("not raised");
   exception
      when E : others =>
         Put_Line (Exception_Name (E) & ": " & Exception_Message (E));
   end;
end Tasks;
